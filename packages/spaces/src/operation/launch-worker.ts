/**
 * Starts the process that owns a background run and waits until it has begun the run. The plan goes in through stdin.
 * The answer (the id, or why there is none) comes back on descriptor 3. The worker leads its own session, so nothing
 * that happens to us or our terminal reaches it.
 */
import { spawn } from "node:child_process"
import { closeSync, mkdirSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"

import { type Facts, Failure, type FailureCode, FAILURES, isJsonObject, type RunId } from "@meridian/protocol"

import { asRunId } from "../domain/identifier.ts"
import { decodeJson, text } from "../domain/json-line.ts"
import { readDocument } from "../store/document.ts"
import { openForAppending } from "../store/open-file.ts"
import { runPlace, spacePlace } from "../store/place.ts"
import { workerEnvironment } from "./child-environment.ts"
import { executeRun, resumeRun } from "./execute-run.ts"
import { openState } from "./open-state.ts"
import { decodeOrder, encodeOrder, type WorkerOrder } from "./run-plan.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

const ANSWER = 3

/** Undefined if the run to resume has ended, or if another process was faster. */
export const launchWorker = async (
  order: WorkerOrder,
  state: State,
  world: Pick<World, "program" | "cwd" | "env" | "uuid">,
): Promise<RunId | undefined> => {
  const [command, ...args] = world.program
  const { runs } = spacePlace(state.place, order.kind === "begin" ? order.plan.space : order.space)
  mkdirSync(runs, { recursive: true, mode: 0o700 })
  const log = join(runs, `.worker-${world.uuid()}.log`)
  const errors = openForAppending(log)
  const child = spawn(command, [...args, "run", "worker", log], {
    cwd: world.cwd,
    env: workerEnvironment(world.env),
    detached: true,
    stdio: ["pipe", "ignore", errors, "pipe"],
  })
  closeSync(errors)
  const failed = new Promise<string>((done) => {
    child.once("error", (error) => done(JSON.stringify({ reason: error.message })))
  })
  child.stdin?.on("error", () => undefined)
  child.stdin?.end(encodeOrder(order))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stdio[3] is "pipe", so it is a stream to read from
  const channel = child.stdio[ANSWER] as Readable
  const answer = decodeJson(await Promise.race([readAll(channel), failed]))
  child.unref()
  channel.destroy()
  const id = isJsonObject(answer) ? asRunId(text(answer, "run_id")) : undefined
  if (id !== undefined) return id
  if (isJsonObject(answer) && answer["nothing"] === true) {
    rmSync(log, { force: true })
    return undefined
  }
  const reason =
    (isJsonObject(answer) ? text(answer, "reason") : undefined) ?? readDocument(log)?.trim().slice(-500)
  rmSync(log, { force: true })
  throw failureOf(answer) ?? new Failure("BACKGROUND_LAUNCH_FAILED", { reason: reason ?? "it ended at once" })
}

/** The other side: the implementation of `meridian run worker`. */
export const runWorker = async (
  log: string,
  world: World,
): Promise<{ readonly runId: RunId | undefined; readonly exitCode: number }> => {
  let told = false
  const tell = (answer: Readonly<Record<string, unknown>>): void => {
    if (told) return
    told = true
    try {
      writeSync(ANSWER, `${JSON.stringify(answer)}\n`)
      closeSync(ANSWER)
    } catch {
      // The process that started us is gone. The run continues without it.
    }
  }
  try {
    const order = decodeOrder(readFileSync(0, "utf8"))
    const space = spacePlace(openState(world).place, order.kind === "begin" ? order.plan.space : order.space)
    const onBegun = (begun: RunId): void => {
      renameSync(log, runPlace(space, begun).workerLog)
      tell({ run_id: begun })
    }
    const done =
      order.kind === "begin"
        ? await executeRun(order.plan, world, { owner: "worker", onBegun })
        : await resumeRun(order, world, { owner: "worker", onBegun })
    if (done === undefined) tell({ nothing: true })
    return { runId: done?.id, exitCode: done?.end?.exitCode ?? 0 }
  } catch (error) {
    tell(
      error instanceof Failure
        ? { code: error.code, facts: error.facts }
        : { reason: error instanceof Error ? error.message : String(error) },
    )
    throw error
  }
}

const readAll = async (stream: Readable): Promise<string> => {
  let content = ""
  stream.setEncoding("utf8")
  // A killed worker closes the channel without a word. We treat a broken channel the same way.
  try {
    for await (const chunk of stream) content += String(chunk)
  } catch {
    return content
  }
  return content
}

const failureOf = (answer: unknown): Failure | undefined => {
  if (!isJsonObject(answer)) return undefined
  const code = text(answer, "code")
  const facts = answer["facts"]
  if (code === undefined || !isCode(code) || !isJsonObject(facts)) return undefined
  const plain: Record<string, string | number> = {}
  for (const [key, value] of Object.entries(facts))
    if (typeof value === "string" || typeof value === "number") plain[key] = value
  return new Failure(code, plain satisfies Facts)
}

const isCode = (code: string): code is FailureCode => Object.hasOwn(FAILURES, code)
