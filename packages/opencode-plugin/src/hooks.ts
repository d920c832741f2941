/**
 * The hooks as OpenCode 1.18 calls them. Each one is guarded: it never throws, never exceeds its time, and changes its
 * output in one step after the work is done, so that late work cannot touch a request that has already left.
 */
import { takeOffer, toolPaths, touchPaths, type Place, type TouchedFile } from "@meridian/continuity"
import { sayOffer } from "@meridian/protocol"

import { openBriefLayer } from "./brief-layer.ts"
import { fieldOf, listField, textField } from "./field.ts"
import { commandIn, isSummary, modelOf, pathsIn, promptOf, readHistory } from "./history.ts"
import { HISTORY_LIMIT, openHost, sessionOfMessages } from "./host.ts"
import { openInjectedRecord } from "./injected-record.ts"
import type { Log } from "./log.ts"
import { onEvent } from "./on-event.ts"
import type { Options } from "./options.ts"
import { compactedMessages, holds, insertTold } from "./pin-messages.ts"
import { openRequestKinds } from "./request-kind.ts"
import { openRulesLayer } from "./rules-layer.ts"
import { openSessions, type Session } from "./session.ts"
import { openSilentMessages } from "./silent-messages.ts"
import { tell } from "./told.ts"
import { startHookTime, TIME_LIMITS, withinTime, type HookTime, type World } from "./world.ts"

const EVENTS: ReadonlySet<string> = new Set([
  "session.created",
  "session.compacted",
  "session.status",
  "session.idle",
  "session.deleted",
  "message.removed",
  "todo.updated",
])

const KEPT_TOUCHES = 100

type Hook = (input: unknown, output: unknown) => Promise<void>

export type Hooks = Readonly<Record<string, Hook>>

export const createHooks = (given: {
  readonly client: unknown
  readonly place: Place
  readonly log: Log
  readonly options: Options
  readonly world: World
}): Hooks => {
  const { client, place, log, options, world } = given
  const host = openHost(client, world)
  const sessions = openSessions()
  const rules = openRulesLayer({ place, host, log, options, world })
  const brief = openBriefLayer({ place, log, options, world })
  const silent = openSilentMessages(host, rules, log, world)
  const record = openInjectedRecord(place, world)
  const kinds = openRequestKinds(host, world)

  /** Reads the history of a new session. Waits for it briefly, and uses it whenever it arrives. */
  const meet = async (id: string): Promise<Session> => {
    const session = sessions.get(id)
    if (session.history === undefined) {
      kinds.prepare()
      session.history = host
        .messages(id)
        .then((messages) => remember(session, messages ?? []))
        .catch((error: unknown) => complain("history", error))
      // Waits only once: a host that does not answer must not slow down every request.
      await withinTime(world, TIME_LIMITS.clientMs, session.history)
    }
    return session
  }

  /** Folds everything said so far. It includes, in order, what was folded while the answer was on its way. */
  const remember = (session: Session, messages: readonly unknown[]): void => {
    const history = readHistory(messages, place)
    if (messages.length > 0) {
      session.conversation.forget()
      session.conversation.take(messages)
      if (messages.length >= HISTORY_LIMIT) session.conversation.lacksStart()
    }
    session.paths = touchPaths(history.paths, session.paths, place)
    session.prompt ??= history.prompt
    session.agent ??= history.agent
    session.model ??= history.model
    if (history.pathsAtCompaction !== undefined) brief.resume(session, history.pathsAtCompaction)
  }

  /** For the log and the workflows the time of a touch matters: the work may have moved on. */
  const noteWork = (session: Session, paths: readonly string[]): void => {
    const time = world.now()
    const work = touchPaths([], paths, place).filter((path) => /^(?:SESSION\.md$|\.codex\/)/.test(path))
    const touch = (path: string): TouchedFile => ({ path, order: Number.MAX_SAFE_INTEGER, time })
    session.touched = [...session.touched, ...work.map(touch)].slice(-KEPT_TOUCHES)
  }

  const guard =
    (name: string, work: (input: unknown, output: unknown, time: HookTime) => Promise<() => void>): Hook =>
    async (input, output) => {
      try {
        const done = await withinTime(world, TIME_LIMITS.hookMs, work(input, output, startHookTime(world)))
        if (done.kind === "done") done.value()
        else log.write("warn", `meridian: ${name} took too long and was left out`, { hook: name })
      } catch (error) {
        complain(name, error)
      }
    }

  const complain = (name: string, error: unknown): void => {
    const reason = error instanceof Error ? error.message : "unknown"
    log.write("error", `meridian: ${name} failed: ${reason.slice(0, 300)}`, { hook: name })
  }

  /** One part of a request. If it fails, the others remain. */
  const orNothing = <Value>(name: string, part: Promise<Value>, nothingThere: Value): Promise<Value> =>
    part.catch((error: unknown) => {
      complain(name, error)
      return nothingThere
    })

  const pinnedFor = (session: Session, time: HookTime) =>
    orNothing("pin", brief.pinned(session, time), { text: "", facts: [], maxTokens: 0 })

  const nothing = (): void => undefined

  const onKnownEvent = guard("event", async (input) => {
    await onEvent(fieldOf(input, "event"), { sessions, meet, brief, silent, options })
    return nothing
  })

  return {
    "chat.message": guard("chat.message", async (input, output) => {
      const prompt = promptOf(listField(output, "parts"))
      const id = textField(input, "sessionID")
      // A message without typed text (a silent one of ours or of another plugin) is not a prompt.
      if (id === undefined || prompt === undefined) return nothing
      const session = await meet(id)
      const message = fieldOf(output, "message")
      const { announced } = session
      session.announced = undefined
      session.prompt = prompt
      session.agent = textField(input, "agent") ?? textField(message, "agent") ?? session.agent
      session.model = modelOf(fieldOf(input, "model")) ?? modelOf(fieldOf(message, "model")) ?? session.model
      const isAnnounced =
        announced !== undefined && (announced.text === "" || prompt.includes(announced.text))
      session.command = isAnnounced ? announced.command : commandIn(prompt)
      const whole = { info: message, parts: listField(output, "parts") }
      if (textField(message, "id") !== undefined) session.conversation.take([whole])
      else session.conversation.note({ kind: "prompt", prompt: { text: prompt } })
      session.paths = touchPaths(session.paths, pathsIn([whole]), place)
      return nothing
    }),

    "command.execute.before": guard("command.execute.before", async (input, output) => {
      const id = textField(input, "sessionID")
      const command = textField(input, "command")
      const parts = listField(output, "parts")
      // A subtask runs elsewhere: its text never arrives as a prompt of this session.
      const isSubtask = parts.some((part) => fieldOf(part, "type") === "subtask")
      if (id !== undefined && command !== undefined)
        sessions.get(id).announced = isSubtask ? undefined : { command, text: promptOf(parts) ?? "" }
      return nothing
    }),

    "tool.execute.before": guard("tool.execute.before", async (input, output) => {
      const id = textField(input, "sessionID")
      if (id === undefined) return nothing
      const args = fieldOf(output, "args") ?? fieldOf(input, "args")
      const session = sessions.get(id)
      const call = { tool: textField(input, "tool") ?? "", input: args }
      const paths = toolPaths(call)
      session.paths = touchPaths(session.paths, paths, place)
      noteWork(session, paths)
      return nothing
    }),

    // Messages sent to the run in the meantime are added to the tool's answer, which the host keeps.
    "tool.execute.after": guard("tool.execute.after", async (_input, output) => {
      const offer = takeOffer(world.environment)
      const told = textField(output, "output")
      if (offer === undefined || typeof output !== "object" || output === null) return nothing
      return () => Reflect.set(output, "output", [told, sayOffer(offer)].filter(Boolean).join("\n\n"))
    }),

    "experimental.chat.messages.transform": guard("messages.transform", async (_input, output, time) => {
      const messages = listField(output, "messages")
      const id = sessionOfMessages(messages)
      if (id === undefined) return nothing
      const session = await meet(id)
      const fresh = session.conversation.take(messages)
      session.paths = touchPaths(session.paths, pathsIn(fresh), place)
      if (session.pin === undefined && messages.some(isSummary)) brief.resume(session, session.paths)
      // The request for a summary is about the old conversation: it gets the brief, not the pin.
      const compacted = session.isSummarising ? undefined : compactedMessages(output)
      if (compacted === undefined || session.pin === undefined) return nothing
      const { text, facts, maxTokens } = await pinnedFor(session, time)
      const before =
        session.pinTold === undefined || !holds(compacted, session.pinTold) ? undefined : session.pinTold
      const told = tell(before, { ...compacted, pinned: text, maxTokens })
      if (told === undefined) return nothing
      return () => {
        insertTold(compacted, told)
        session.pinTold = told
        session.isPinInMessages = true
        const texts = [told.baseline, ...told.updates.map((update) => update.text)]
        record.keep(session, { request: "main request", texts, ms: time.spentMs(), facts })
      }
    }),

    "experimental.chat.system.transform": guard("system.transform", async (input, output, time) => {
      const system = fieldOf(output, "system")
      const id = textField(input, "sessionID")
      if (id === undefined || !Array.isArray(system)) return nothing
      const session = sessions.get(id)
      if (!(await kinds.isMain(system, session))) return nothing
      await meet(id)
      const model = fieldOf(input, "model")
      session.window = windowOf(model) ?? session.window
      const isInMessages = session.isPinInMessages
      session.isPinInMessages = false
      const pinned = isInMessages ? undefined : await pinnedFor(session, time)
      const block = options.rules
        ? await orNothing("rules", rules.textFor(session, time, modelOf(model)), "")
        : ""
      const pin = pinned?.text ?? ""
      // The host joins additions with a single line feed. A blank line separates the blocks.
      const apart = pin === "" || block === "" ? pin : `${pin}\n`
      return () => {
        const texts = pushNew(system, [apart, block])
        if (pinned !== undefined)
          record.keep(session, {
            request: "main request",
            texts,
            ms: time.spentMs(),
            facts: pinned.facts,
          })
      }
    }),

    "experimental.session.compacting": guard("session.compacting", async (input, output, time) => {
      const id = textField(input, "sessionID")
      if (id === undefined || typeof output !== "object" || output === null) return nothing
      const session = await meet(id)
      const texts = await brief.atCompaction(session, time)
      return () => {
        const context = fieldOf(output, "context")
        const list: unknown[] = Array.isArray(context) ? context : []
        if (context !== list) Reflect.set(output, "context", list)
        record.keep(session, { request: "compaction", texts: pushNew(list, texts), ms: time.spentMs() })
      }
    }),

    // Called for every piece of streamed text; nearly all are skipped at once.
    event: (input) =>
      EVENTS.has(textField(fieldOf(input, "event"), "type") ?? "")
        ? onKnownEvent(input, {})
        : Promise.resolve(),
  }
}

const windowOf = (model: unknown): number | undefined => {
  const tokens = fieldOf(fieldOf(model, "limit"), "context")
  return typeof tokens === "number" && tokens > 0 ? tokens : undefined
}

/** Changes the list in place, because the host keeps its own. A second copy of the plugin adds nothing. */
const pushNew = (list: unknown[], texts: readonly string[]): readonly string[] => {
  const added = texts.filter((text) => text !== "" && !list.includes(text))
  list.push(...added)
  return added
}
