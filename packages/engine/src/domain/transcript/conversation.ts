/** What was said and done, as far as a model can still see it. */
import type { RecordedPrompt, RecordedUsage } from "@meridian/protocol"

import { assert } from "../assert.ts"
import type { LoggedEvent } from "../logged-event.ts"
import { promptText } from "../prompt-parts.ts"
import {
  partWeight,
  weightOf,
  type AssistantItem,
  type CheckpointItem,
  type Item,
  type ProsePart,
  type ToolOutcome,
  type ToolPart,
} from "./items.ts"

/** The provider's last report, with its turn and model. */
export interface ReportedUsage {
  readonly usage: RecordedUsage
  readonly seq: number
  readonly messageID: string
  readonly model: string
}

export interface Conversation {
  readonly items: readonly Item[]
  /** Changes when a settled item is replaced or removed. With the same revision, items are only added. */
  readonly revision: number
  /** The step that started and has neither ended nor failed. */
  readonly openStep: string | undefined
  readonly lastUsage: ReportedUsage | undefined
  readonly prunedSeq: number
  /** Everything people have said, oldest first, including what was compacted. */
  readonly userTexts: readonly string[]
  /** A rough count of characters held. The cache of idle sessions uses it. */
  readonly weight: number
}

export const NO_CONVERSATION: Conversation = {
  items: [],
  revision: 0,
  openStep: undefined,
  lastUsage: undefined,
  prunedSeq: 0,
  userTexts: [],
  weight: 0,
}

/** What the fold of one slice needs from the others. */
export interface FoldedBeside {
  /** The prompt of an admitted input. */
  readonly promptOf: (messageID: string) => RecordedPrompt | undefined
  /** Compactions a restore has taken back. */
  readonly ignored: ReadonlySet<string>
}

export const foldConversation = (
  conversation: Conversation,
  events: readonly LoggedEvent[],
  beside: FoldedBeside,
): Conversation => {
  const draft = openDraft(conversation)
  for (const event of events) foldOne(draft, event, beside)
  return draft.changed() ? draft.value() : conversation
}

const foldOne = (draft: Draft, event: LoggedEvent, { promptOf, ignored }: FoldedBeside): void => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is not part of the conversation
  switch (event.type) {
    case "session.next.prompt.promoted.1": {
      const prompt = promptOf(event.data.messageID)
      assert(prompt !== undefined, "a promoted input was admitted")
      return draft.addUser({ kind: "user", id: event.data.messageID, seq: event.seq, prompt })
    }
    case "session.next.prompted.1": {
      const { messageID: id, prompt } = event.data
      return draft.addUser({ kind: "user", id, seq: event.seq, prompt })
    }
    case "session.next.synthetic.1": {
      const { messageID: id, text } = event.data
      return draft.add({ kind: "synthetic", id, seq: event.seq, text })
    }
    case "session.next.step.started.1": {
      const { assistantMessageID: id, agent, model } = event.data
      draft.set({ openStep: id })
      return draft.add({ kind: "assistant", id, seq: event.seq, agent, model, parts: [], ended: false })
    }
    case "session.next.step.ended.2": {
      const { assistantMessageID, usage } = event.data
      const ended = draft.updateAssistant(assistantMessageID, (item) => ({ ...item, ended: true }))
      draft.closeStep(assistantMessageID)
      if (ended !== undefined)
        draft.set({ lastUsage: { usage, seq: event.seq, messageID: ended.id, model: ended.model } })
      return
    }
    case "session.next.step.failed.2": {
      const { assistantMessageID, error } = event.data
      draft.updateAssistant(assistantMessageID, (item) => ({ ...item, ended: true, error }))
      return draft.closeStep(assistantMessageID)
    }
    case "session.next.output.given.1":
      draft.updateAssistant(event.data.assistantMessageID, (item) => ({ ...item, answered: true }))
      return
    case "session.next.text.ended.1":
    case "session.next.reasoning.ended.1": {
      const { assistantMessageID, text, metadata } = event.data
      const type = event.type === "session.next.text.ended.1" ? "text" : "reasoning"
      return draft.addPart(assistantMessageID, {
        type,
        text,
        ...(metadata === undefined ? {} : { metadata }),
      })
    }
    case "session.next.tool.called.1": {
      const { assistantMessageID, callID, tool, input, raw, hosted, metadata } = event.data
      return draft.addPart(assistantMessageID, {
        type: "tool",
        seq: event.seq,
        callID,
        tool,
        hosted: hosted === true,
        ...(input === undefined ? {} : { input }),
        ...(raw === undefined ? {} : { raw }),
        ...(metadata === undefined ? {} : { metadata }),
      })
    }
    case "session.next.tool.success.1": {
      const { assistantMessageID, callID, content, result, metadata } = event.data
      return draft.settle(assistantMessageID, callID, {
        kind: "success",
        content,
        ...(result === undefined ? {} : { result }),
        ...(metadata === undefined ? {} : { metadata }),
      })
    }
    case "session.next.tool.failed.1": {
      const { assistantMessageID, callID, error, result, metadata } = event.data
      return draft.settle(assistantMessageID, callID, {
        kind: "failed",
        error,
        ...(result === undefined ? {} : { result }),
        ...(metadata === undefined ? {} : { metadata }),
      })
    }
    case "session.next.tool.pruned.1":
      draft.set({ prunedSeq: event.seq })
      for (const { assistantMessageID, callID } of event.data.calls) draft.prune(assistantMessageID, callID)
      return
    case "session.next.context.updated.1": {
      const { messageID: id, text } = event.data
      return draft.add({ kind: "context", id, seq: event.seq, text })
    }
    // Context updates described the old place or are part of the new baseline.
    case "session.next.moved.1":
    case "session.next.epoch.started.1":
      return draft.keep((item) => item.kind !== "context")
    case "session.next.compaction.ended.2": {
      const { compactionID: id, summary, recent, range } = event.data
      if (ignored.has(id)) return
      const kept = new Set(event.data.kept)
      const checkpoint = { kind: "checkpoint", id, seq: event.seq, summary, recent, range } as const
      return draft.keep((item) => item.kind === "context" || kept.has(item.id), checkpoint)
    }
    default:
      return
  }
}

type Draft = ReturnType<typeof openDraft>

/** Copies the list once per batch of events. One copy per event would make a long log quadratic. */
const openDraft = (before: Conversation) => {
  let fields = before
  let items: Item[] | undefined
  let userTexts: string[] | undefined
  let { weight } = before
  const list = (): Item[] => (items ??= [...before.items])

  const add = (item: Item): void => {
    list().push(item)
    weight += weightOf(item)
  }

  const updateAssistant = (
    id: string,
    update: (item: AssistantItem) => AssistantItem,
  ): AssistantItem | undefined => {
    const index = list().findLastIndex((item) => item.kind === "assistant" && item.id === id)
    const item = list()[index]
    if (item?.kind !== "assistant") return undefined
    const updated = update(item)
    list()[index] = updated
    return updated
  }

  /** Undefined when there is no such part. Its outcome then changes nothing. */
  const updatePart = (
    messageID: string,
    isMeant: (part: ToolPart) => boolean,
    update: (part: ToolPart) => ToolPart,
  ): AssistantItem | undefined => {
    let found = false
    const updated = updateAssistant(messageID, (item) => {
      const index = item.parts.findIndex((part) => part.type === "tool" && isMeant(part))
      const part = item.parts[index]
      if (part?.type !== "tool") return item
      found = true
      const after = update(part)
      weight += partWeight(after) - partWeight(part)
      return { ...item, parts: item.parts.with(index, after) }
    })
    return found ? updated : undefined
  }

  const set = (changes: Partial<Conversation>): void => {
    fields = { ...fields, ...changes }
  }

  const revise = (): void => set({ revision: fields.revision + 1 })

  return {
    add,
    updateAssistant,
    set,
    addUser: (item: Extract<Item, { readonly kind: "user" }>): void => {
      add(item)
      userTexts ??= [...before.userTexts]
      userTexts.push(promptText(item.prompt))
    },
    addPart: (messageID: string, part: ProsePart | ToolPart): void => {
      updateAssistant(messageID, (item) => {
        weight += partWeight(part)
        return { ...item, parts: [...item.parts, part] }
      })
    },
    settle: (messageID: string, callID: string, outcome: ToolOutcome): void => {
      updatePart(
        messageID,
        (part) => part.callID === callID && part.outcome === undefined,
        (part) => ({ ...part, outcome }),
      )
    },
    prune: (messageID: string, callID: string): void => {
      const pruned = updatePart(
        messageID,
        (part) => part.callID === callID,
        (part) => ({ ...part, pruned: true }),
      )
      if (pruned !== undefined) revise()
    },
    closeStep: (id: string): void => {
      if (fields.openStep === id) set({ openStep: undefined })
    },
    keep: (isKept: (item: Item) => boolean, first?: CheckpointItem): void => {
      items = [...(first === undefined ? [] : [first]), ...list().filter(isKept)]
      weight = items.reduce((sum, item) => sum + weightOf(item), 0)
      revise()
    },
    changed: (): boolean => items !== undefined || fields !== before,
    value: (): Conversation => ({
      ...fields,
      items: items ?? before.items,
      weight,
      userTexts: userTexts ?? before.userTexts,
    }),
  }
}
