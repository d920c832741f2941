/**
 * A session as shown on a terminal. Durable events and live fragments go in, finished rows come out, and unfinished
 * work is kept for the rows below them. A fold: state inside, no I/O. All its output is plain text with our own
 * colours.
 */
import type { LiveItem, SessionEvent } from "@meridian/engine"
import {
  Failure,
  oneLine,
  renderFailure,
  type Json,
  type RecordedContent,
  type RecordedError,
  undoText,
} from "@meridian/protocol"

import { cutTo, wrapText } from "./columns.ts"
import { count, describeCall, NOTHING_SPENT, sentence, several, spend, type Spent } from "./describe.ts"
import { plainText } from "./plain-text.ts"
import { openSpeaking } from "./speaking.ts"
import type { Style } from "./style.ts"

export interface Question {
  readonly id: string
  readonly action: string
  readonly resources: readonly string[]
  readonly title: string
  /** What "always" would allow. */
  readonly always: readonly string[]
  /** The input of the call that asks. */
  readonly input?: Json | undefined
}

export interface View {
  readonly event: (event: SessionEvent, width: number) => readonly string[]
  readonly live: (item: LiveItem, width: number) => readonly string[]
  /** The row being written, and the running calls. */
  readonly going: (width: number) => readonly string[]
  /** Adds a question from before this terminal joined. */
  readonly ask: (question: Question & { readonly callID: string }) => void
  /** Sets the open questions of a child. All others of that child are answered. */
  readonly askFor: (child: string, open: readonly (Question & { readonly callID: string })[]) => void
  /** Adds a waiting input from before this terminal joined. It is shown when it is taken up. */
  readonly awaitInput: (input: { readonly id: string; readonly text: string }) => void
  /** The oldest open question. */
  readonly question: () => Question | undefined
  /** The same as `takeSpent`, without resetting it. */
  readonly spent: () => Spent
  /** Spent since the last call, and how full the context is. */
  readonly takeSpent: () => { readonly spent: Spent; readonly context: number; readonly model: string }
  /** Whether an error was shown since the last call. */
  readonly takeError: () => boolean
}

export interface ViewOptions {
  readonly style: Style
  /** True for inputs this terminal sent: they are already on the screen. */
  readonly isOwn: (messageID: string) => boolean
  /** For a terminal that cannot redraw rows: beginnings are shown too. */
  readonly tellsBeginnings: boolean
  /** Whether this terminal requested the current work. */
  readonly isWorking: () => boolean
}

interface Running {
  readonly title: string
  readonly state: "runs" | "waits"
  readonly input?: Json | undefined
}

const PREVIEW_ROWS = 5

export const openView = ({ style, isOwn, tellsBeginnings, isWorking }: ViewOptions): View => {
  const running = new Map<string, Running>()
  const questions = new Map<string, Question & { readonly callID: string }>()
  const waiting = new Map<string, string>()
  let compacting = false
  let spent = NOTHING_SPENT
  let context = 0
  let model = ""
  let failed = false
  const speaking = openSpeaking(style)

  const endCall = (callID: string, mark: string, note: string, width: number): string => {
    const title = running.get(callID)?.title ?? "tool"
    running.delete(callID)
    // A stopped call no longer waits for its answer.
    for (const question of questions.values()) if (question.callID === callID) questions.delete(question.id)
    return `${mark} ${cutTo(`${title}${note}`, width - 2)}`
  }

  const toldCall = (
    callID: string,
    { title, input }: Pick<Running, "title" | "input">,
    width: number,
  ): readonly string[] => {
    running.set(callID, { title, input, state: "runs" })
    return tellsBeginnings ? [style.dim(cutTo(`… ${title}`, width))] : []
  }

  const error = ({ code }: RecordedError, text: string, width: number): readonly string[] => {
    if (code === "INTERRUPTED") return [style.notice("Interrupted.")]
    failed = true
    return wrapText(oneLine(text), width).map(style.bad)
  }

  const told = (event: SessionEvent, width: number): readonly string[] => {
    switch (event.type) {
      case "session.next.prompt.admitted.1":
        return isOwn(event.data.messageID)
          ? []
          : userRows(event.data.prompt.text, width, style, " (sent from elsewhere)")
      case "session.next.prompted.1":
        return userRows(event.data.prompt.text, width, style)
      case "session.next.synthetic.1":
        return [style.dim(cutTo(`(added by a program) ${oneLine(event.data.text)}`, width))]
      case "session.next.task.started.1":
        return event.data.background === true
          ? [
              style.dim(
                cutTo(`In the background: ${oneLine(event.data.title)} (${event.data.sessionID})`, width),
              ),
            ]
          : []
      case "session.next.task.ended.1":
        return []
      case "session.next.prompt.cancelled.1":
        waiting.delete(event.data.messageID)
        return [style.dim("An input that waited was taken back.")]
      case "session.next.prompt.promoted.1": {
        speaking.begin()
        const text = waiting.get(event.data.messageID)
        waiting.delete(event.data.messageID)
        return text === undefined ? [] : userRows(text, width, style)
      }
      case "session.next.step.started.1":
        model = event.data.model
        return []
      case "session.next.text.ended.1":
        return speaking.end("text", event.data.text, width)
      case "session.next.reasoning.ended.1":
        return speaking.end("reasoning", event.data.text, width)
      case "session.next.tool.called.1": {
        const { callID, tool, input, raw } = event.data
        return [
          ...speaking.pause(),
          ...toldCall(callID, { title: describeCall(tool, input ?? raw), input }, width),
        ]
      }
      case "session.next.tool.resumed.1": {
        const call = running.get(event.data.callID)
        if (call !== undefined) running.set(event.data.callID, { ...call, state: "runs" })
        return []
      }
      case "session.next.tool.success.1": {
        const { callID, content } = event.data
        const isCommand = running.get(callID)?.title.startsWith("bash ") === true
        return [
          endCall(callID, style.good("✓"), "", width),
          ...(isCommand ? preview(content, width).map(style.dim) : []),
        ]
      }
      case "session.next.tool.failed.1": {
        const note = `: ${oneLine(event.data.error.message)}`
        return [endCall(event.data.callID, style.bad("✗"), note, width)]
      }
      case "session.next.permission.asked.1": {
        const { requestID, callID, action, resources, title, always } = event.data
        const call = running.get(callID)
        questions.set(requestID, {
          id: requestID,
          action,
          resources,
          title,
          always,
          callID,
          input: call?.input,
        })
        if (call !== undefined) running.set(callID, { ...call, state: "waits" })
        return []
      }
      case "session.next.permission.replied.1": {
        const { requestID, reply } = event.data
        const question = questions.get(requestID)
        questions.delete(requestID)
        const call = question === undefined ? undefined : running.get(question.callID)
        if (question === undefined || call === undefined) return []
        if (reply !== "reject") running.set(question.callID, { ...call, state: "runs" })
        if (reply === "session") return [style.dim("Edits are allowed from now on in this session.")]
        return reply === "always" ? [style.dim("Allowed from now on in this project.")] : []
      }
      case "session.next.retried.1": {
        const { attempt, error: why, delayMs } = event.data
        const text = `Attempt ${attempt} failed (${oneLine(why.code)}): ${sentence(oneLine(why.message))} Trying again in ${(delayMs / 1000).toFixed(1)} s.`
        return [...speaking.pause(), ...wrapText(text, width).map(style.notice)]
      }
      case "session.next.parked.1": {
        const text = `The provider asks to come back later (${oneLine(event.data.error.code)}). Waiting until ${new Date(event.data.until).toLocaleString()}.`
        return [...speaking.pause(), ...wrapText(text, width).map(style.notice)]
      }
      case "session.next.activity.resumed.1":
        return [...speaking.pause(), style.notice("The process of this work was lost. The work continues.")]
      case "session.next.question.asked.1": {
        const { text, choices, callID } = event.data
        // The conversation shows it, and takes the answer.
        if (callID !== undefined) return speaking.pause()
        const labels = choices.map(({ label }) => label).join(", ")
        const asked = oneLine(`Asked: ${text}${labels === "" ? "" : ` (${labels})`}`)
        return [...speaking.pause(), ...wrapText(asked, width).map(style.notice)]
      }
      case "session.next.question.replied.1":
        return wrapText(oneLine(`Answered: ${event.data.answer.join(", ")}`), width).map(style.dim)
      case "session.next.output.given.1":
        return [
          ...speaking.pause(),
          ...JSON.stringify(event.data.value, null, 2)
            .split("\n")
            .flatMap((line) => wrapText(oneLine(line), width)),
        ]
      case "session.next.output.refused.1":
        return wrapText(`The answer did not fit: ${oneLine(event.data.problem)}`, width).map(style.notice)
      case "session.next.compaction.started.1":
        compacting = true
        return tellsBeginnings ? [style.dim("… compacting")] : []
      case "session.next.compaction.ended.2": {
        compacting = false
        const { tokens, usage, cost } = event.data
        spent = spend(spent, usage, cost)
        const gain = tokens.after < tokens.before ? "" : " Nothing was gained."
        return wrapText(
          `Compacted: ${count(tokens.before)} -> ${count(tokens.after)} tokens.${gain}`,
          width,
        ).map(style.notice)
      }
      case "session.next.compaction.failed.1":
        compacting = false
        if (event.data.error.code === "NOTHING_TO_COMPACT")
          return [style.notice("There is nothing to compact yet.")]
        return [style.bad(cutTo(`Compaction failed: ${oneLine(event.data.error.message)}`, width))]
      case "session.next.compaction.restored.1":
        return [style.notice("An older state of the history is active again.")]
      case "session.next.step.ended.2": {
        const { usage, cost, finish } = event.data
        spent = spend(spent, usage, cost)
        context = usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
        return [
          ...speaking.pause(),
          ...(finish === "length"
            ? [style.notice("The answer was cut at the output limit of the model.")]
            : []),
          ...(finish === "content-filter"
            ? wrapText("The provider withheld the answer (content filter).", width).map(style.bad)
            : []),
        ]
      }
      case "session.next.step.failed.2":
        return [...speaking.pause(), ...error(event.data.error, modelFailed(event.data.error), width)]
      case "session.next.execution.failed.1":
        // The terminal that requested the work shows this failure, with what to do next.
        if (isWorking() && event.data.error.code !== "INTERRUPTED") return []
        return error(event.data.error, `ERROR [${event.data.error.code}]: ${event.data.error.message}`, width)
      case "session.next.todo.updated.1":
        return event.data.items.map((item) =>
          style.dim(cutTo(`${BOXES[item.status]} ${oneLine(item.content)}`, width)),
        )
      case "session.next.tooling.failed.1":
        return [style.notice(oneLine(event.data.error.message))]
      case "session.next.warned.1":
        return wrapText(oneLine(event.data.text), width).map(style.dim)
      case "session.next.model.switched.1":
        return [style.dim(`Model: ${oneLine(event.data.model)}`)]
      case "session.next.agent.switched.1":
        return [style.dim(`Agent: ${oneLine(event.data.agent)}`)]
      case "session.next.moved.1":
        return [style.dim(cutTo(`Moved to ${oneLine(event.data.location.directory)}`, width))]
      case "session.next.renamed.1":
        return [style.dim(cutTo(`Renamed to ${oneLine(event.data.title)}`, width))]
      case "session.next.files.missed.1":
        return wrapText(
          `What this turn does to files cannot be taken back: ${oneLine(event.data.reason)}.`,
          width,
        ).map(style.notice)
      case "session.next.undo.ended.1":
        return wrapText(undoText(event.data), width).map(style.notice)
      // Bookkeeping, and what the model is told beside the conversation.
      case "session.next.files.kept.1":
      case "session.next.undo.started.1":
      case "session.next.archived.1":
      case "session.next.titled.1":
      case "session.next.created.1":
      case "session.next.interrupt.requested.1":
      case "session.next.repetition.noticed.1":
      case "session.next.budget.changed.1":
      case "session.next.unparked.1":
      case "session.next.tool.adjusted.1":
      case "session.next.epoch.started.1":
      case "session.next.context.updated.1":
      case "session.next.instruction.discovered.1":
      case "session.next.tool.pruned.1":
      case "session.next.permission.revoked.1":
      case "session.next.compaction.requested.1":
      case "unknown":
      case "synced":
        return []
    }
  }

  return {
    event: told,
    live: (item, width) => {
      switch (item.type) {
        case "text.delta":
          return speaking.push("text", item.data.delta, width)
        case "reasoning.delta":
          return speaking.push("reasoning", item.data.delta, width)
        case "dropped":
          speaking.miss()
          return []
        case "tool.input.delta":
        case "compaction.delta":
          return []
      }
    },
    going: (width) => [
      ...speaking.row(),
      ...(compacting ? [style.dim("… compacting")] : []),
      ...[...running.values()].map(({ title, state }) =>
        state === "waits"
          ? style.notice(cutTo(`? ${title} (waits for your answer)`, width))
          : style.dim(cutTo(`… ${title}`, width)),
      ),
    ],
    ask: (question) => {
      questions.set(question.id, question)
      if (!running.has(question.callID))
        running.set(question.callID, {
          title: describeCall(question.action, question.resources[0]),
          state: "waits",
        })
    },
    askFor: (child, open) => {
      const isOfChild = (callID: string): boolean => callID.startsWith(`${child}/`)
      for (const { id, callID } of questions.values())
        if (isOfChild(callID) && !open.some((other) => other.id === id)) {
          questions.delete(id)
          running.delete(callID)
        }
      for (const question of open) {
        const callID = `${child}/${question.callID}`
        questions.set(question.id, { ...question, callID })
        running.set(callID, { title: describeCall(question.action, question.resources[0]), state: "waits" })
      }
    },
    awaitInput: ({ id, text }) => {
      waiting.set(id, text)
    },
    question: () => questions.values().next().value,
    spent: () => spent,
    takeSpent: () => {
      const taken = { spent, context, model }
      spent = NOTHING_SPENT
      return taken
    },
    takeError: () => {
      const was = failed
      failed = false
      return was
    },
  }
}

const modelFailed = ({ code, message }: RecordedError): string =>
  renderFailure(new Failure("MODEL_FAILED", { kind: code, message: sentence(message) }))

const BOXES = { pending: "☐", in_progress: "▸", completed: "☑", cancelled: "☒" } as const

/** The words of a person. */
export const userRows = (text: string, width: number, style: Style, note = ""): readonly string[] =>
  wrapText(plainText(text) + note, width - 2).map((row, index) =>
    style.bold(`${index === 0 ? ">" : " "} ${row}`),
  )

const preview = (content: readonly RecordedContent[], width: number): readonly string[] => {
  const text = content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n")
  const lines = plainText(text.slice(0, 20_000))
    .split("\n")
    .filter((line) => line.trim() !== "")
  const shown = lines.slice(0, PREVIEW_ROWS).map((line) => cutTo(`  ${line}`, width))
  return lines.length <= PREVIEW_ROWS
    ? shown
    : [...shown, `  … ${several(lines.length - PREVIEW_ROWS, "line")} more`]
}
