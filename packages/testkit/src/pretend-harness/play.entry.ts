/**
 * The pretend harness itself: `node play.entry.ts <claude|codex|opencode> <launcher> <its arguments>`. Its behaviour is in
 * `<launcher>.behaviour.json`; its calls are appended to `<launcher>.calls.jsonl`.
 */
import { execFileSync, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  watch,
  writeFileSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"

import type { PretendBehaviour, PretendName } from "./behaviour.ts"
import { goInCircles } from "./circles.ts"
import { speak, UNKNOWN_SESSION, type Spoken } from "./dialect.ts"
import { readInvocation } from "./invocation.ts"
import { leaveSession, listSessions } from "./session-files.ts"

const [, , name = "", launcher = "", ...argv] = process.argv
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- install.ts wrote the launcher
const as = name as PretendName
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- install.ts wrote the file
const behaviour = JSON.parse(readFileSync(`${launcher}.behaviour.json`, "utf8")) as PretendBehaviour

// oxlint-disable-next-line node/no-process-env -- a program of its own: this is where its environment comes in
const { env } = process

const fresh =
  behaviour.session ??
  (as === "opencode" ? `ses_${randomUUID().replaceAll("-", "").slice(0, 26)}` : randomUUID())
const { mode, session, model, isResumed } = readInvocation(as, argv, fresh)

const note = (fields: object): void => {
  appendFileSync(`${launcher}.calls.jsonl`, `${JSON.stringify({ pid: process.pid, ...fields })}\n`)
}

/** Written synchronously and completely, because this process may die right after. */
const print = (text: string, to: 1 | 2 = 1): void => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.byteLength;) {
    try {
      at += writeSync(to, bytes, at)
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error
      // The pipe is full. A blocking pause keeps this program simple.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

const say = (lines: readonly object[]): void => lines.forEach((line) => print(`${JSON.stringify(line)}\n`))

/** Alive until a signal ends it. */
const stay = (): Promise<never> =>
  new Promise(() => {
    setInterval(() => undefined, 60_000)
  })

const appeared = async (file: string): Promise<void> => {
  await new Promise<void>((resolve) => {
    const watcher = watch(dirname(file), () => {
      if (existsSync(file)) watcher.close()
    })
    watcher.on("close", resolve)
    if (existsSync(file)) watcher.close()
  })
}

const readStdin = async (): Promise<string> => {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(Buffer.from(piece))
  const text = Buffer.concat(pieces).toString("utf8")
  note({ stdin: text })
  return text
}

const leaveGrandchild = (seconds: number): void => {
  const child = spawn("sleep", [String(seconds)], { stdio: ["ignore", "inherit", "inherit"], detached: true })
  note({ grandchild: child.pid })
  child.unref()
}

const callsBefore = (): number =>
  readFileSync(`${launcher}.calls.jsonl`, "utf8")
    .split("\n")
    .filter((line) => line.includes('"mode"')).length - 1

const replay = (recording: string): number => {
  print(readFileSync(`${recording}.jsonl`, "utf8"))
  if (existsSync(`${recording}.stderr`)) print(readFileSync(`${recording}.stderr`, "utf8"), 2)
  const meta = existsSync(`${recording}.meta`) ? readFileSync(`${recording}.meta`, "utf8") : ""
  return Number(/rc=(\d+)/.exec(meta)?.[1] ?? 0)
}

const flood = ({ lines, bytes }: { readonly lines: number; readonly bytes: number }): void => {
  const line = `${JSON.stringify({ type: "flood", payload: "x".repeat(Math.max(0, bytes - 29)) })}\n`
  for (let printed = 0; printed < lines; printed += 1) print(line)
}

const readPrompt = async (): Promise<string> => {
  if (behaviour.stdin === "closed") closeSync(0)
  if (behaviour.stdin === "closed" || behaviour.stdin === "unread") return ""
  if (behaviour.stdin === "late" && behaviour.release !== undefined) await appeared(behaviour.release)
  return readStdin()
}

const writeFiles = (): void => {
  for (const [path, content] of Object.entries(behaviour.writes ?? {})) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  if (behaviour.does !== undefined) execFileSync("/bin/sh", ["-c", behaviour.does], { stdio: "ignore" })
  const report = env["MERIDIAN_REPORT_PATH"]
  if (behaviour.report !== undefined && report !== undefined) writeFileSync(report, behaviour.report)
}

const answer = (prompt: string): string =>
  typeof behaviour.answer === "string"
    ? behaviour.answer
    : behaviour.answer?.echo === true
      ? prompt
      : "Pretend answer."

/** What Claude Code does after a tool. */
const listen = async (): Promise<void> => {
  const settings = argv[argv.indexOf("--settings") + 1] ?? "{}"
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a launch brings
  const { hooks } = JSON.parse(settings) as {
    hooks?: { PostToolUse?: { hooks: { command: string }[] }[] }
  }
  const command = hooks?.PostToolUse?.[0]?.hooks[0]?.command ?? "true"
  for (;;) {
    const input = JSON.stringify({ hook_event_name: "PostToolUse", session_id: session, cwd: process.cwd() })
    const heard = execFileSync("/bin/sh", ["-c", command], { input, encoding: "utf8" })
    if (heard === "") await new Promise((resolve) => setTimeout(resolve, 50))
    else {
      if (behaviour.listens === "kept") leaveSession(as, { session, cwd: process.cwd(), env, heard })
      return note({ heard })
    }
  }
}

const workHeadless = async (spoken: Spoken): Promise<number> => {
  if (behaviour.hang === "before") await stay()
  const prompt = await readPrompt()
  if (behaviour.forgets === true && isResumed) {
    say(UNKNOWN_SESSION[as].lines)
    print(UNKNOWN_SESSION[as].stderr, 2)
    return 1
  }
  if (behaviour.replay !== undefined) return behaviour.exitCode ?? replay(behaviour.replay)
  if (behaviour.keeps === true) leaveSession(as, { session, cwd: process.cwd(), env })
  const { failFirst } = behaviour
  say(spoken.begin)
  if (behaviour.hang === "within") await stay()
  if (behaviour.dieBy !== undefined) {
    process.kill(process.pid, behaviour.dieBy)
    await stay()
  }
  if (behaviour.circles !== undefined) {
    const events = join(dirname(env["MERIDIAN_REPORT_PATH"] ?? ""), "events.jsonl")
    const about = { session, model, launcher, home: env["HOME"] ?? ".", events, say }
    await goInCircles(as, about, behaviour.circles)
  }
  for (const line of behaviour.noise ?? []) print(`${line}\n`)
  if (behaviour.flood !== undefined) flood(behaviour.flood)
  if (behaviour.listens !== undefined) await listen()
  if (behaviour.release !== undefined) await appeared(behaviour.release)
  if (failFirst !== undefined && callsBefore() < failFirst.times) {
    const failed = spoken.fail(failFirst.failure, failFirst.words)
    say(failed.lines)
    return failed.exitCode
  }
  writeFiles()
  say(spoken.answer(answer(prompt)))
  if (behaviour.hang === "after") await stay()
  return behaviour.exitCode ?? 0
}

const workOnTerminal = async (): Promise<number> => {
  leaveSession(as, { session, cwd: process.cwd(), env })
  if (behaviour.hang !== undefined) await stay()
  if (behaviour.dieBy !== undefined) {
    process.kill(process.pid, behaviour.dieBy)
    await stay()
  }
  if (behaviour.release !== undefined) await appeared(behaviour.release)
  writeFiles()
  return behaviour.exitCode ?? 0
}

for (const signal of behaviour.ignoreSignals ?? []) process.on(signal, () => note({ ignored: signal }))
note({ argv, cwd: process.cwd(), env, mode, session })
if (behaviour.stderr !== undefined) print(behaviour.stderr, 2)
if (behaviour.grandchildSeconds !== undefined) leaveGrandchild(behaviour.grandchildSeconds)
if (mode === "query") print(listSessions(env))
process.exitCode =
  mode === "query" ? 0 : mode === "headless" ? await workHeadless(speak(as, session)) : await workOnTerminal()
// Open handles must not keep a finished harness alive.
process.exit()
