/**
 * A plain conversation with an agent: lines in, text out, its questions asked on the way. Nothing is drawn, so it
 * works on any terminal and in a pipe. Ctrl-C stops the agent's work; a second one, or the end of the input, ends the
 * conversation.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { createInterface } from "node:readline"

import { plainText } from "@meridian/protocol"
import {
  answerByTier,
  answerWith,
  openAgentEvents,
  type Answer,
  type OpenAgentOptions,
} from "@meridian/server"
import { SESSION_FILE, type DirectEvent, type World } from "@meridian/spaces"

import { openAgentSession, type AgentLaunch } from "./launch.ts"

/** The exit code. Throws ACP_AGENT_FAILED. */
export const startConversation = async (launch: AgentLaunch, world: World): Promise<number> => {
  const lines = openLines(world)
  const events = openAgentEvents()
  const show = (event: DirectEvent): void => {
    const text = lineOf(event)
    if (text !== "") lines.print(`${plainText(text)}\n`)
  }
  const ask: OpenAgentOptions["answer"] = async (question, withdrawn) => {
    const { permission } = launch
    const given = permission === undefined ? undefined : answerByTier(question, permission, world.cwd)
    if (given?.tag === "allowed") return given
    for (const event of events.finish()) show(event)
    return askPerson(question, withdrawn, lines)
  }
  let isReplay = true
  const { agent, id } = await openAgentSession(launch, world, {
    onUpdate: (update) => {
      const told = events.take(update)
      if (!isReplay) told.forEach(show)
    },
    answer: ask,
  })
  events.finish()
  isReplay = false
  writeSession(world.env[SESSION_FILE], id)
  lines.print(`acp:${launch.name}, session ${plainText(id)}. /exit leaves, Ctrl-C stops the agent.\n`)
  try {
    let next: string | undefined =
      launch.firstMessage.trim() === "" ? await lines.read("> ") : launch.firstMessage
    while (next !== undefined && !/^\/(?:exit|quit)$/.test(next.trim())) {
      if (next.trim() !== "") {
        const stop = lines.onStop(() => void agent.cancel(id))
        const ended = await Promise.race([agent.prompt(id, next), lines.left])
        stop()
        // If the agent does not stop when asked, its process is ended.
        if (ended === "left") return 0
        const { stopReason } = ended
        for (const event of events.finish()) show(event)
        if (stopReason !== "end_turn") lines.print(`(${stopReason})\n`)
      }
      next = world.signal.aborted ? undefined : await lines.read("> ")
    }
    return 0
  } finally {
    lines.close()
    await agent.close()
  }
}

const askPerson = async (
  { toolCall, options }: Parameters<OpenAgentOptions["answer"]>[0],
  withdrawn: AbortSignal,
  lines: Lines,
): Promise<Answer> => {
  const what = plainText((toolCall.title ?? toolCall.kind ?? "something").slice(0, 500))
  const where = (toolCall.locations ?? []).slice(0, 5).map(({ path }) => plainText(path.slice(0, 300)))
  const place = where.length === 0 ? "" : ` (${where.join(", ")})`
  const answer = await lines.answer(`The agent asks: ${what}${place}. Allow this once? [y/N] `)
  if (withdrawn.aborted || answer === undefined) return { tag: "cancelled" }
  return answerWith(options, /^y(?:es)?$/i.test(answer.trim()))
}

const lineOf = (event: DirectEvent): string => {
  switch (event.type) {
    case "text":
      return event.text
    case "tool.started":
      return `* ${event.tool}`
    case "tool.ended":
      return event.status === "failed" ? `* ${event.tool}: failed` : ""
    case "warning":
      return `(${event.message})`
    case "session":
    case "reasoning":
    case "told":
    case "file":
    case "compaction":
    case "retry":
    case "usage":
    case "spending":
    case "waiting":
    case "turn.ended":
    case "error":
    case "ended":
      return ""
  }
}

/** The harness reads this during the conversation, so that it can be continued after a crash. */
const writeSession = (path: string | undefined, id: string): void => {
  if (path === undefined) return
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, id, { mode: 0o600 })
}

interface Lines {
  readonly print: (text: string) => void
  /** The next line. Undefined at the end of the input, or if the person wants to leave. */
  readonly read: (question: string) => Promise<string | undefined>
  /** The same, for a question that earlier lines must not answer. */
  readonly answer: (question: string) => Promise<string | undefined>
  /** What Ctrl-C does until the returned function is called. Without it Ctrl-C leaves. */
  readonly onStop: (stop: () => void) => () => void
  /** Resolves when the person leaves, whatever is at work. The end of the input does not count as leaving. */
  readonly left: Promise<"left">
  readonly close: () => void
}

const openLines = ({ signal, terminal }: World): Lines => {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  const waiting: string[] = []
  let isOver = false
  let wake: (() => void) | undefined
  let stop: (() => void) | undefined
  const leaving = Promise.withResolvers<"left">()
  const finish = (): void => {
    isOver = true
    wake?.()
  }
  const leave = (): void => {
    finish()
    leaving.resolve("left")
  }
  reader.on("line", (line) => {
    waiting.push(line)
    wake?.()
  })
  reader.on("SIGINT", () => {
    const act = stop
    stop = undefined
    if (act === undefined) leave()
    else act()
  })
  reader.once("close", finish)
  signal.addEventListener("abort", leave, { once: true })
  const next = async (): Promise<string | undefined> => {
    if (waiting.length === 0 && !isOver)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return waiting.shift()
  }
  return {
    print: (text) => {
      process.stdout.write(text)
    },
    read: (question) => {
      process.stdout.write(question)
      return next()
    },
    answer: (question) => {
      // Lines typed before the question do not answer it.
      if (terminal.stdin) waiting.length = 0
      process.stdout.write(question)
      return next()
    },
    onStop: (act) => {
      stop = act
      return () => {
        stop = undefined
      }
    },
    left: leaving.promise,
    close: () => reader.close(),
  }
}
