/**
 * Runs a harness on this terminal as our child, rather than in our place. So whatever ends it, or us, the chat is
 * recorded as stopped and its exit code is passed on. Only after a SIGKILL does the next command have to do that.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { constants } from "node:os"
import { dirname } from "node:path"

import { Failure } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import type { SandboxUse } from "../domain/sandbox.ts"
import type { PermissionTier } from "../domain/tier.ts"
import type { Harness, LaunchPlan, QueryPlan } from "../port/harness.ts"
import { readChats, stopChat, updateChat, type OpenChat } from "../store/chat-store.ts"
import type { SpacePlace } from "../store/place.ts"
import { chatEnvironment, overlay } from "./child-environment.ts"
import { launchEnvironment } from "./launcher.ts"
import { lookingGit } from "./looking-git.ts"
import { sandboxed } from "./sandboxed-launch.ts"
import type { State } from "./state.ts"
import type { SignalName, World } from "./world.ts"

export interface Conversation {
  readonly harness: Harness
  readonly plan: LaunchPlan
  /** What the harness may do without asking. */
  readonly tier: PermissionTier | undefined
  readonly chat: OpenChat
  readonly place: SpacePlace
  readonly state: State
  readonly world: World
  readonly config: Config
  readonly sandbox: SandboxUse | undefined
}

export const launchOnTerminal = async (
  conversation: Conversation,
): Promise<{ readonly exitCode: number; readonly harnessSessionId: string }> => {
  const { plan, chat, place, state, world } = conversation
  const startedAtMs = world.clock.now()
  // While we listen, a second signal cannot end this process before the stop is written.
  const unlisten = world.onSignal(() => undefined)
  try {
    world.signal.throwIfAborted()
    for (const file of plan.files) {
      mkdirSync(dirname(file.path), { recursive: true })
      writeFileSync(file.path, file.content, { mode: 0o600 })
    }
    const search = searchSession(conversation, startedAtMs)
    const exitCode = await untilExit(conversation)
    return { exitCode, harnessSessionId: await search.finish() }
  } finally {
    for (const file of plan.files) rmSync(dirname(file.path), { recursive: true, force: true })
    await stopChat(place, chat, state.now())
    unlisten()
  }
}

const untilExit = async ({
  harness,
  plan,
  tier,
  chat,
  place,
  state,
  world,
  config,
  sandbox,
}: Conversation): Promise<number> => {
  const env = launchEnvironment(world)
  const started = await sandboxed(plan, { plan: { sandbox }, harness: harness.id, place: state.place, env })
  const git = await lookingGit(tier, { cwd: plan.cwd, env })
  const child = spawn(started.command, started.args, {
    cwd: plan.cwd,
    env: {
      ...chatEnvironment({
        env,
        git,
        place: state.place,
        space: place,
        chat: chat.chatId,
        plan,
        tier,
      }),
      ...compactionEnvironment(harness, config),
    },
    // One document on stdout: if ours is JSON, the harness writes to the other stream. The harness inherits the lock:
    // while it lives, so does the chat, whatever becomes of us.
    stdio: ["inherit", world.json ? 2 : "inherit", "inherit", chat.lock.descriptor],
  })
  const over = new AbortController()
  const unlisten = world.onSignal((signal) => {
    forward({
      child,
      signal,
      world,
      graceMs: config["timeouts.kill_grace_seconds"] * 1000,
      over: over.signal,
    })
  })
  try {
    return await new Promise<number>((done, failed) => {
      child.once("error", (error) => {
        failed(
          new Failure(
            "HARNESS_NOT_STARTED",
            { harness: harness.name, reason: error.message, command: plan.command },
            { cause: error },
          ),
        )
      })
      child.once("exit", (code, signal) => {
        if (wasKilled(code, signal) && world.terminal.stderr) writeSync(STDERR, GIVE_BACK_TERMINAL)
        done(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))
      })
    })
  } finally {
    over.abort()
    unlisten()
  }
}

/** The raw stream, as the harness has it: elsewhere our text goes out as plain lines. */
const STDERR = 2

/** Many harnesses are started by a script, which reports a signal as a code. After Ctrl-C they still tidy up. */
const wasKilled = (code: number | null, signal: NodeJS.Signals | null): boolean =>
  signal !== null || (code !== null && code > 128 && code !== 128 + constants.signals.SIGINT)

/**
 * What a killed harness could not undo: the second screen, the mouse, marked pastes and focus, reports of keys and
 * themes, wide characters, the hidden cursor, colours. Each does nothing if it is already off.
 */
const GIVE_BACK_TERMINAL = [
  ...["1049", "1000", "1002", "1003", "1004", "1006", "1015", "1016", "2004", "2027", "2031"].map(
    (mode) => `\u001b[?${mode}l`,
  ),
  "\u001b[<u",
  "\u001b[>4m",
  "\u001b[?25h",
  "\u001b[0m",
].join("")

const compactionEnvironment = (harness: Harness, config: Config): Readonly<Record<string, string>> => {
  const percent = config["primary.autocompact_pct"]
  return harness.id === "claude" && percent !== undefined
    ? { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String(percent) }
    : {}
}

/** On a terminal, Ctrl-C reaches the harness directly. A SIGINT from us would be a second Ctrl-C. */
const forward = (options: {
  readonly child: ChildProcess
  readonly signal: SignalName
  readonly world: World
  readonly graceMs: number
  readonly over: AbortSignal
}): void => {
  const { child, signal, world } = options
  if (signal === "SIGINT" && world.terminal.stdin) return
  child.kill(signal)
  if (signal === "SIGINT") return
  void world.clock.sleep(options.graceMs, options.over).then(() => {
    if (!options.over.aborted) child.kill("SIGKILL")
    return undefined
  })
}

const LOOK_EVERY_MS = 1_000

/** The harness's own id, recorded as soon as it can be known: before the launch, while it runs, or at its end. */
const searchSession = (
  { harness, plan, chat, place, world, sandbox }: Conversation,
  startedAtMs: number,
): { readonly finish: () => Promise<string> } => {
  if (plan.harnessSessionId !== undefined) {
    const known = plan.harnessSessionId
    // The harness may have switched to another conversation and recorded that.
    const recorded = () => readChats(place, () => undefined).findLast(({ chatId }) => chatId === chat.chatId)
    return { finish: () => Promise.resolve(recorded()?.harnessSessionId ?? known) }
  }
  const ended = new AbortController()
  const look = async (
    ask?: (query: QueryPlan) => Promise<string | undefined>,
  ): Promise<string | undefined> => {
    const found = await harness.findSession({
      cwd: plan.cwd,
      environment: { ...world.env, ...plan.environment },
      startedAtMs,
      taken: readChats(place, () => undefined)
        .map((record) => record.harnessSessionId)
        .filter((id) => id !== ""),
      binary: plan.command,
      ...(ask === undefined ? {} : { ask }),
    })
    if (found !== undefined) await updateChat(place, chat.chatId, found)
    return found
  }
  const whileRunning = (async (): Promise<string | undefined> => {
    while (!ended.signal.aborted) {
      await world.clock.sleep(LOOK_EVERY_MS, ended.signal)
      const found = ended.signal.aborted ? undefined : await look()
      if (found !== undefined) return found
    }
    return undefined
  })()
  // An unknown id is no reason to lose the chat.
  whileRunning.catch(() => undefined)
  return {
    finish: async () => {
      ended.abort()
      // The question is asked outside of the sandbox, in a folder where the harness may have left what it would then start.
      const asking = sandbox === undefined ? ask : undefined
      return (await whileRunning.catch(() => undefined)) ?? (await look(asking).catch(() => undefined)) ?? ""
    },
  }
}

const ANSWER_BYTES = 4_194_304

const ask = (query: QueryPlan): Promise<string | undefined> =>
  new Promise((done) => {
    execFile(
      query.command,
      [...query.args],
      { cwd: query.cwd, env: overlay(query.environment), timeout: query.timeoutMs, maxBuffer: ANSWER_BYTES },
      (error, stdout) => done(error === null ? stdout : undefined),
    )
  })
