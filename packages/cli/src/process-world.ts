/** The world of a command: this process. Everything that costs start-up time is loaded only when needed. */
import { resolve as resolvePath } from "node:path"

import {
  directEntry,
  FOREIGN_VARIABLE,
  HARNESSES,
  Interrupted,
  renderWarning,
  warning,
  type KeptRequests,
  type KeptSearch,
  type SignalName,
  type World,
} from "@meridian/spaces"

import type { LiveLines } from "./live-lines.ts"
import type { Output } from "./output.ts"

export interface ProcessWorld {
  readonly world: World
  /** Which signal came first, if any. */
  readonly stoppedBy: () => SignalName | undefined
}

export interface WorldChoices {
  readonly output: Output
  readonly json: boolean
  readonly yes: boolean
  readonly configPath: string | undefined
  /** `--allow-foreign`. */
  readonly allowForeign: boolean
}

export const openProcessWorld = (choices: WorldChoices): ProcessWorld => {
  const controller = new AbortController()
  const listeners = new Set<(signal: SignalName) => void>()
  const warned = new Set<string>()
  const cwd = process.cwd()
  // Exported, so that a background worker, a harness and everything they start read the same configuration and state.
  const env: World["env"] = {
    ...process.env,
    ...(choices.configPath === undefined ? {} : { MERIDIAN_CONFIG: resolvePath(cwd, choices.configPath) }),
    ...(choices.allowForeign ? { [FOREIGN_VARIABLE]: "1" } : {}),
  }
  let first: SignalName | undefined
  const receive = (signal: SignalName): void => {
    // A second signal without a listener: the user means it.
    if (first !== undefined && listeners.size === 0) process.exit(EXIT[signal])
    first ??= signal
    for (const listener of listeners) listener(signal)
    controller.abort(new Interrupted(signal))
  }
  for (const signal of SIGNALS) process.on(signal, receive)
  const terminal: World["terminal"] = {
    get stdin() {
      return isatty(0)
    },
    get stdout() {
      return isatty(1)
    },
    get stderr() {
      return isatty(2)
    },
  }
  const lines = openTerminalLines(choices, terminal, env)
  const program: World["program"] = [process.execPath, ...process.execArgv, process.argv[1] ?? ""]
  const world: World = {
    env,
    cwd,
    clock: { now: Date.now, sleep },
    uuid: () => globalThis.crypto.randomUUID(),
    mode: agentMode(env) ? "agent" : "human",
    face: "command",
    terminal,
    stderr: { write: lines.write },
    get openLive() {
      return lines.openLive
    },
    print: choices.output.stdout,
    warn: (code, facts) => {
      const line = renderWarning(warning(code, facts))
      if (warned.has(line)) return
      warned.add(line)
      lines.write(`${line}\n`)
    },
    progress: () => {},
    signal: controller.signal,
    onSignal: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    confirm: async (question) => {
      if (choices.yes) return true
      if (!terminal.stdin || !terminal.stderr) return false
      const { ask } = await import("./ask.ts")
      return ask(question, controller.signal)
    },
    choose:
      choices.yes || !terminal.stdin || !terminal.stderr
        ? undefined
        : async (question, among) => (await import("./choose.ts")).choose(question, among, controller.signal),
    findSession: async (name) => (await import("./sessions/find-session.ts")).findSession(name, { cwd, env }),
    pendingWork: async (database) => (await import("./pending-work.ts")).pendingWork(database),
    readCommand: async (words) => (await import("./read-command.ts")).readCommand(words),
    json: choices.json,
    configPath: choices.configPath,
    program,
    harnesses: [...HARNESSES, directEntry(program, keptByDirect(cwd))],
    continuity: async (launch) =>
      (await import("./continuity/index.ts")).carriedContinuity({ ...launch, program }),
    handover: async (query) => (await import("./handover/make-handover.ts")).makeHandover(query),
    moveSessions: async (from, to) =>
      (await import("./move-sessions.ts")).moveSessions({ from, to }, { env, cwd }),
    checkEngine: async () => {
      const { checkEngine, engineFile } = await import("./engine-check.ts")
      return checkEngine(engineFile({ env, cwd }))
    },
    salvageEngine: async (file) => (await import("./engine-check.ts")).salvageEngine(file, { env, cwd }),
    lookUpNames: async (asked) => (await import("./direct/look-up-names.ts")).lookUpNames(asked, world),
    checkHosts: async (harnesses) => {
      const { checkHost, HOSTS } = await import("./continuity/index.ts")
      return HOSTS.map((host) => checkHost(host, { cwd, env, harnesses }))
    },
  }
  return { world, stoppedBy: () => first }
}

/** The engine is loaded at the first look. */
const keptByDirect =
  (cwd: string) =>
  (search: KeptSearch): KeptRequests =>
  async () =>
    (await import("./direct/kept-requests.ts")).keptByEngine(search, cwd)()

interface TerminalLines {
  readonly write: (text: string) => void
  readonly openLive: World["openLive"]
}

/** Live lines are for a person's terminal that can move up. The code that draws them is loaded with the first line. */
const openTerminalLines = (
  { output, json }: WorldChoices,
  terminal: World["terminal"],
  env: World["env"],
): TerminalLines => {
  let opened: LiveLines | undefined
  const isShown = (): boolean => terminal.stderr && !json && !["", "dumb"].includes(env["TERM"] ?? "")
  const size = (): { readonly columns: number; readonly rows: number } => ({
    columns: process.stderr.columns ?? 80,
    rows: process.stderr.rows ?? 24,
  })
  return {
    write: (text) => (opened === undefined ? output.stderr(text) : opened.write(text)),
    get openLive() {
      if (!isShown()) return undefined
      return async () => {
        const { openLiveLines } = await import("./live-lines.ts")
        opened ??= openLiveLines(output.draw, size)
        return opened.show
      }
    },
  }
}

export const agentMode = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env["MERIDIAN_SPACE_ID"] ?? "") !== ""

/** node:tty is loaded by the first question, which most commands never ask. */
const isatty = (descriptor: number): boolean => process.getBuiltinModule("node:tty").isatty(descriptor)

const SIGNALS: readonly SignalName[] = ["SIGINT", "SIGTERM", "SIGHUP"]

const EXIT: Readonly<Record<SignalName, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener("abort", done, { once: true })
  })
