/**
 * A project in a temporary folder with pretend harnesses on its PATH, and the operations of spaces on it. They run in this
 * process (fast), or in a separate one (`spaces.entry.ts`) that can be killed.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

import { Failure } from "@meridian/protocol"
import {
  decodeInput,
  Interrupted,
  OPERATIONS,
  renderWarning,
  warning,
  type SignalName,
  type World,
} from "@meridian/spaces"
import {
  installPretendHarness,
  type PretendBehaviour,
  type PretendHarness,
  type PretendName,
} from "@meridian/testkit"

export type Document = Readonly<Record<string, unknown>>

export interface Answer {
  readonly document: Document
  readonly text: string
  readonly notes: string
  readonly exitCode: number
  readonly warnings: readonly string[]
}

export interface Scene {
  readonly project: string
  /** The first folder on PATH. */
  readonly bin: string
  readonly env: Readonly<Record<string, string>>
  readonly harness: (as: PretendName, behaviour?: PretendBehaviour) => PretendHarness
  /** Calls an operation in this process. Fields by their wire names. */
  readonly call: (name: string, values?: Document, options?: CallOptions) => Promise<Answer>
  /** The same in a separate process. */
  readonly start: (name: string, values?: Document, options?: CallOptions) => RunningCall
  /** A file of the state: `scene.state("s1/runs.jsonl")`. */
  readonly state: (path: string) => string
  readonly events: (path: string) => readonly Document[]
  /** Every path under the state root with its content. Two snapshots are equal when nothing changed. */
  readonly snapshot: () => Readonly<Record<string, string>>
  readonly close: () => void
}

export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly face?: World["face"]
  readonly cwd?: string
  readonly passthrough?: readonly string[]
  readonly confirm?: (question: string) => boolean
  readonly terminal?: boolean
  readonly signals?: Signals
  /** Default: true. */
  readonly json?: boolean
}

export interface RunningCall {
  readonly child: ChildProcess
  readonly ended: Promise<{
    readonly code: number | null
    readonly signal: string | null
    readonly stdout: string
    readonly stderr: string
  }>
}

/** Replaces the signals of a terminal or another process. */
export interface Signals {
  readonly send: (signal: SignalName) => void
  readonly attach: (listener: (signal: SignalName) => void) => () => void
}

export const openSignals = (): Signals => {
  const listeners = new Set<(signal: SignalName) => void>()
  return {
    send: (signal) => listeners.forEach((listener) => listener(signal)),
    attach: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const ENTRY = join(import.meta.dirname, "spaces.entry.ts")
const PROGRAM: World["program"] = [process.execPath, "--conditions=meridian-source", ENTRY]

/** `program` is what `start` and background workers run: the entry in this folder, or a bundle of it. */
export const openScene = (program: World["program"] = PROGRAM): Scene => {
  const home = mkdtempSync(join(tmpdir(), "scene-"))
  const project = join(home, "project")
  const bin = join(home, "bin")
  mkdirSync(join(project, ".git"), { recursive: true })
  mkdirSync(bin)
  const env = {
    // oxlint-disable-next-line node/no-process-env -- the tools of this machine: sh, flock, sleep
    PATH: [bin, ...(process.env["PATH"] ?? "").split(delimiter)].join(delimiter),
    HOME: home,
    CODEX_HOME: join(home, ".codex"),
    XDG_DATA_HOME: join(home, ".local/share"),
    // Dead runs stay dead. Other tests cover the supervisor that resumes them.
    MERIDIAN_SUPERVISOR: "off",
  }
  const root = join(project, ".meridian", ".spaces")
  const state = (path: string): string => join(root, path)
  return {
    project,
    bin,
    env,
    harness: (as, behaviour) =>
      installPretendHarness(bin, { as, ...(behaviour === undefined ? {} : { behaviour }) }),
    call: (name, values = {}, options = {}) =>
      callOperation({ name, values, world: { env, cwd: project, program }, options }),
    start: (name, values = {}, options = {}) =>
      startEntry(
        [...program, name, JSON.stringify(values)],
        { ...env, ...options.env },
        options.cwd ?? project,
      ),
    state,
    events: (path) => readLines(state(path)),
    snapshot: () => snapshotOf(join(project, ".meridian")),
    close: () => {
      for (const pid of processesOf(home)) process.kill(pid, "SIGKILL")
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

export const callOperation = async (request: {
  readonly name: string
  readonly values: Document
  readonly world: Pick<World, "cwd" | "program"> & { readonly env: Readonly<Record<string, string>> }
  readonly options: CallOptions
}): Promise<Answer> => {
  const { options } = request
  const registration = OPERATIONS.find(({ meta }) => meta.name === request.name)
  if (registration === undefined) throw new Error(`no operation ${request.name}`)
  const warnings: string[] = []
  const env = { ...request.world.env, ...options.env }
  const face = options.face ?? "command"
  const world = testWorld({
    ...request.world,
    env,
    cwd: options.cwd ?? request.world.cwd,
    face,
    options,
    warnings,
  })
  const input = decodeInput(registration.meta, {
    values: request.values,
    face,
    ...(options.passthrough === undefined ? {} : { passthrough: options.passthrough }),
  })
  const operation = await registration.load()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decodeInput checked it against this meta
  const checked = input as never
  const document = await operation.run(checked, world)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output of this very operation
  const own = document as never
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every operation answers with an object
    document: document as unknown as Document,
    text: operation.text(own, checked),
    notes: operation.notes?.(own, checked) ?? "",
    exitCode: operation.exitCode?.(own) ?? 0,
    warnings,
  }
}

const testWorld = (given: {
  readonly program: World["program"]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly face: World["face"]
  readonly options: CallOptions
  readonly warnings: string[]
}): World => {
  const controller = new AbortController()
  const signals = given.options.signals ?? openSignals()
  signals.attach((signal) => controller.abort(new Interrupted(signal)))
  const terminal = given.options.terminal ?? false
  return {
    env: given.env,
    cwd: given.cwd,
    clock: { now: Date.now, sleep },
    uuid: () => globalThis.crypto.randomUUID(),
    mode: (given.env["MERIDIAN_SPACE_ID"] ?? "") === "" ? "human" : "agent",
    face: given.face,
    terminal: { stdin: terminal, stdout: false, stderr: false },
    stderr: { write: () => undefined },
    warn: (code, facts) => {
      const line = renderWarning(warning(code, facts))
      if (!given.warnings.includes(line)) given.warnings.push(line)
    },
    progress: () => undefined,
    signal: controller.signal,
    onSignal: (listener) => signals.attach(listener),
    confirm: (question) => Promise.resolve(given.options.confirm?.(question) ?? true),
    json: given.options.json ?? true,
    configPath: undefined,
    program: given.program,
  }
}

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

const startEntry = (
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): RunningCall => {
  const [command = "", ...args] = words
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const ended = new Promise<Awaited<RunningCall["ended"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, ended }
}

/** Waits until the condition holds, with no limit but the test's own. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(15)
}

export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no failure",
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  )

export const readLines = (file: string): readonly Document[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a log of ours; a line that is no JSON fails the test
        .map((line) => JSON.parse(line) as Document)
    : []

/** All living processes of this scene. Only they have this home. */
export const processesOf = (home: string): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => environment(pid).includes(`HOME=${home}`))
    .map(Number)

const environment = (pid: string): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
  } catch {
    return []
  }
}

const snapshotOf = (root: string): Readonly<Record<string, string>> => {
  if (!existsSync(root)) return {}
  const entries = readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()
  return Object.fromEntries(
    entries.map((path) => {
      const file = join(root, path)
      const info = statSync(file)
      return [path, info.isDirectory() ? "directory" : `${info.mtimeMs} ${readFileSync(file, "utf8")}`]
    }),
  )
}
