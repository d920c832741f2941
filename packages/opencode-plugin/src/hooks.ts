/**
 * The hooks as OpenCode 1.18 calls them. Each is guarded: it never throws, never takes longer than its time, and changes
 * its output in one step after the work is done, so that late work cannot touch a request that has already left.
 */
import type { Place } from "@meridian/continuity"
import { toolPaths, touchPaths } from "@meridian/continuity"

import { openBriefLayer } from "./brief-layer.ts"
import { fieldOf, listField, textField } from "./field.ts"
import { isSummary, modelOf, promptOf, readHistory } from "./history.ts"
import { openHost, sessionOfMessages } from "./host.ts"
import { openInjectedRecord } from "./injected-record.ts"
import type { Log } from "./log.ts"
import type { Options } from "./options.ts"
import { isMainRequest } from "./request-kind.ts"
import { openRulesLayer } from "./rules-layer.ts"
import { openSessions, type Session } from "./session.ts"
import { openSilentMessages } from "./silent-messages.ts"
import { startHookTime, TIME_LIMITS, withinTime, type HookTime, type World } from "./world.ts"

const EVENTS: ReadonlySet<string> = new Set([
  "session.created",
  "session.compacted",
  "session.status",
  "session.idle",
  "session.deleted",
])

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
  const record = openInjectedRecord(place, options, world)
  let helperPrompts: Promise<readonly string[]> | undefined

  /** Reads the history of a session nobody has seen yet; waits for it a little, and uses it whenever it comes. */
  const meet = async (id: string): Promise<Session> => {
    const session = sessions.get(id)
    if (session.history === undefined) {
      session.history = host
        .messages(id)
        .then((messages) => remember(session, messages ?? []))
        .catch((error: unknown) => complain("history", error))
      // Waited for once: a host that does not answer must not slow down every request.
      await withinTime(world, TIME_LIMITS.clientMs, session.history)
    }
    return session
  }

  const remember = (session: Session, messages: readonly unknown[]): void => {
    const history = readHistory(messages, place)
    session.paths = touchPaths(history.paths, session.paths, place)
    session.prompt ??= history.prompt
    session.agent ??= history.agent
    session.model ??= history.model
    if (history.pathsAtCompaction !== undefined) brief.resume(session, history.pathsAtCompaction)
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

  /** One part of a request: when it fails, the others are still there. */
  const orNothing = (name: string, part: Promise<string>): Promise<string> =>
    part.catch((error: unknown) => {
      complain(name, error)
      return ""
    })

  const nothing = (): void => undefined

  const onKnownEvent = guard("event", async (input) => {
    const event = fieldOf(input, "event")
    const properties = fieldOf(event, "properties")
    const id = textField(properties, "sessionID") ?? textField(fieldOf(properties, "info"), "id")
    if (id !== undefined) await onEvent(textField(event, "type"), id, properties)
    return nothing
  })

  return {
    "chat.message": guard("chat.message", async (input, output) => {
      const prompt = promptOf(listField(output, "parts"))
      const id = textField(input, "sessionID")
      // A message without typed text (a silent one, ours or another's) is not a prompt.
      if (id === undefined || prompt === undefined) return nothing
      const session = await meet(id)
      const message = fieldOf(output, "message")
      session.prompt = prompt
      session.agent = textField(input, "agent") ?? textField(message, "agent") ?? session.agent
      session.model = modelOf(fieldOf(input, "model")) ?? modelOf(fieldOf(message, "model")) ?? session.model
      session.command = session.announcedCommand ?? /^\/(\S+)/.exec(prompt)?.[1]
      session.announcedCommand = undefined
      return nothing
    }),

    "command.execute.before": guard("command.execute.before", async (input) => {
      const id = textField(input, "sessionID")
      if (id !== undefined) sessions.get(id).announcedCommand = textField(input, "command")
      return nothing
    }),

    "tool.execute.before": guard("tool.execute.before", async (input, output) => {
      const id = textField(input, "sessionID")
      if (id === undefined) return nothing
      const args = fieldOf(output, "args") ?? fieldOf(input, "args")
      const session = sessions.get(id)
      session.paths = touchPaths(
        session.paths,
        toolPaths({ tool: textField(input, "tool") ?? "", input: args }),
        place,
      )
      return nothing
    }),

    "experimental.chat.messages.transform": guard("messages.transform", async (_input, output) => {
      const messages = listField(output, "messages")
      const id = sessionOfMessages(messages)
      if (id === undefined) return nothing
      const session = await meet(id)
      // The host could not be asked, but here is what it is about to send.
      if (session.paths.length === 0) remember(session, messages.slice(-200))
      if (session.pin === undefined && messages.some(isSummary)) brief.resume(session, session.paths)
      return nothing
    }),

    "experimental.chat.system.transform": guard("system.transform", async (input, output, time) => {
      const system = fieldOf(output, "system")
      const id = textField(input, "sessionID")
      if (id === undefined || !Array.isArray(system)) return nothing
      helperPrompts ??= host.helperPrompts()
      if (!isMainRequest(system, await helperPrompts)) return nothing
      const session = await meet(id)
      const pinned = await orNothing("pin", brief.pinned(session, time))
      const model = modelOf(fieldOf(input, "model"))
      const block = options.rules ? await orNothing("rules", rules.textFor(session, time, model)) : ""
      // The host joins what is added with a single line feed; a blank line keeps the blocks apart.
      const apart = pinned === "" || block === "" ? pinned : `${pinned}\n`
      return () => record.keep(session.id, "main request", pushNew(system, [apart, block]))
    }),

    "experimental.session.compacting": guard("session.compacting", async (input, output, time) => {
      const id = textField(input, "sessionID")
      if (id === undefined || typeof output !== "object" || output === null) return nothing
      const texts = await brief.atCompaction(await meet(id), time)
      return () => {
        const context = fieldOf(output, "context")
        const list: unknown[] = Array.isArray(context) ? context : []
        if (context !== list) Reflect.set(output, "context", list)
        record.keep(id, "compaction", pushNew(list, texts))
      }
    }),

    // Called for every piece of text that streams in; all but a few are passed over at once.
    event: (input) =>
      EVENTS.has(textField(fieldOf(input, "event"), "type") ?? "")
        ? onKnownEvent(input, {})
        : Promise.resolve(),
  }

  async function onEvent(type: string | undefined, id: string, properties: unknown): Promise<void> {
    switch (type ?? "") {
      case "session.created": {
        const session = sessions.get(id)
        const info = fieldOf(properties, "info")
        session.agent ??= textField(info, "agent")
        session.model ??= modelOf(fieldOf(info, "model"))
        if (options.silentMessages) await silent.created(session)
        return
      }
      case "session.compacted": {
        const session = await meet(id)
        brief.resume(session, session.paths)
        if (options.silentMessages) await silent.compacted(session)
        return
      }
      case "session.status": {
        const session = sessions.get(id)
        const state = textField(fieldOf(properties, "status"), "type")
        session.busy = state !== undefined && state !== "idle"
        if (state === "idle" && options.silentMessages) await silent.idle(session)
        return
      }
      case "session.idle": {
        const session = sessions.get(id)
        session.busy = false
        if (options.silentMessages) await silent.idle(session)
        return
      }
      case "session.deleted":
        sessions.forget(id)
        return
      default:
    }
  }
}

/** In place, since the host keeps its own list. A second copy of the plugin adds nothing. */
const pushNew = (list: unknown[], texts: readonly string[]): readonly string[] => {
  const added = texts.filter((text) => text !== "" && !list.includes(text))
  list.push(...added)
  return added
}
