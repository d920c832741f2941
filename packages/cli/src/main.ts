/**
 * One command line: find the command, read its flags, run its operation, print exactly one document, and exit with
 * the correct code.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"

import type { Json } from "@meridian/protocol"
import { Failure } from "@meridian/protocol"
import {
  decodeInput,
  sweepAtStart,
  wireName,
  type Field,
  type OperationMeta,
  type Registration,
  type World,
} from "@meridian/spaces"

import { COMMANDS } from "./commands.ts"
import { findCommand } from "./find-command.ts"
import { commandHelp, groupHelp, rootHelp, type Audience } from "./help.ts"
import { processOutput, type Output } from "./output.ts"
import { parseFlags, type Globals } from "./parse-flags.ts"
import { problemDocument, problemOf, renderProblem, type Problem } from "./problem.ts"
import { agentMode, openProcessWorld } from "./process-world.ts"
import { VERSION } from "./version.ts"

/** Never throws. It can end the process because every write is synchronous. */
export const main = async (words: readonly string[]): Promise<never> => {
  const output = processOutput()
  // An unhandled rejection is a bug, but still no reason to show a person a stack.
  process.on("uncaughtException", (thrown) => {
    report(thrown, output)
    process.exit(1)
  })
  const exitCode = await answer(words, output)
  process.exit(exitCode)
}

const answer = async (words: readonly string[], output: Output): Promise<number> => {
  let json: boolean | undefined
  try {
    const plan = planOf(words)
    if (plan.tag === "print") {
      output.stdout(`${plan.text}\n`)
      return 0
    }
    if (plan.tag === "screen") {
      const { renderScreen } = await import("./screen.ts")
      const { world } = openProcessWorld({
        output,
        json: false,
        yes: false,
        configPath: undefined,
        allowForeign: plan.allowForeign,
      })
      requireOverlay(world)
      await sweepAtStart(world)
      output.stdout(`${await renderScreen(COMMANDS, world)}\n`)
      return 0
    }
    json = plan.json
    return await runCommand(plan, output)
  } catch (thrown) {
    const problem = report(thrown, output)
    if (json ?? looksLikeJson(words)) output.json(`${problemDocument(problem)}\n`)
    return problem.exitCode
  }
}

const report = (thrown: unknown, output: Output): Problem => {
  const problem = problemOf(thrown)
  output.stderr(`${renderProblem(problem)}\n`)
  if (process.env["MERIDIAN_DEBUG"] === "1" && thrown instanceof Error) output.stderr(`${thrown.stack}\n`)
  return problem
}

type Plan =
  | { readonly tag: "print"; readonly text: string }
  | { readonly tag: "screen"; readonly allowForeign: boolean }
  | RunPlan

interface RunPlan {
  readonly tag: "run"
  readonly command: Registration
  readonly values: Readonly<Record<string, unknown>>
  readonly passthrough: ReturnType<typeof parseFlags>["passthrough"]
  readonly globals: Globals
  readonly json: boolean
}

const planOf = (typed: readonly string[]): Plan => {
  const asksHelp = typed[0] === "help"
  const words = asksHelp ? [...typed.slice(1), "--help"] : typed
  const found = findCommand(words, COMMANDS)
  if (found.tag === "unknown")
    throw new Failure("UNKNOWN_COMMAND", {
      words: found.words,
      ...(found.suggestion === undefined ? {} : { suggestion: found.suggestion }),
    })
  if (found.tag === "command") return planCommand(found.command, found.rest)
  const { globals } = parseFlags({ name: found.tag === "group" ? found.group : "", fields: {} }, found.rest)
  checkFormat(globals)
  if (globals.version) return { tag: "print", text: VERSION }
  const audience = audienceOf(globals)
  if (found.tag === "group") return { tag: "print", text: groupHelp(found.group, COMMANDS, audience) }
  return globals.help || audience === "agent" || globals.human
    ? { tag: "print", text: rootHelp(COMMANDS, audience) }
    : { tag: "screen", allowForeign: globals.allowForeign }
}

const planCommand = (command: Registration, rest: readonly string[]): Plan => {
  const { meta } = command
  const { values, passthrough, globals } = parseFlags(meta, rest)
  if (globals.help) return { tag: "print", text: commandHelp(meta, audienceOf(globals)) }
  checkFormat(globals)
  if (globals.version) return { tag: "print", text: VERSION }
  const byMode = meta.format !== "text" && audienceOf(globals) === "agent"
  const json = globals.json || globals.format === "json" || (globals.format === undefined && byMode)
  return { tag: "run", command, values, passthrough, globals, json }
}

const runCommand = async (plan: RunPlan, output: Output): Promise<number> => {
  const { meta, load } = plan.command
  const values = await withStdin(meta, plan.values)
  const input = decodeInput(meta, { values, face: "command", passthrough: plan.passthrough })
  const { world } = openProcessWorld({
    output,
    json: plan.json,
    yes: plan.globals.yes,
    configPath: plan.globals.config,
    allowForeign: plan.globals.allowForeign,
  })
  const head = meta.name.split(".")[0] ?? ""
  if (meta.hidden !== true && (SWEEPING.has(head) || REPAIRING.has(meta.name))) requireOverlay(world)
  if (meta.hidden !== true && SWEEPING.has(head) && !REPAIRING.has(meta.name))
    await sweepAtStart(world, textOf(values["space"]))
  const operation = await load()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decodeInput checked the input against this very meta
  const checked = input as never
  const result: Json = await operation.run(checked, world)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of the same operation
  const document = result as never
  if (plan.json) output.json(`${JSON.stringify(document)}\n`)
  else {
    output.stdout(line(operation.text(document, checked)))
    output.stderr(line(operation.notes?.(document, checked) ?? ""))
  }
  return operation.exitCode?.(document) ?? 0
}

/** Reads fields that may come from stdin (`-p -`). */
const withStdin = async (
  meta: OperationMeta,
  values: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> => {
  const asked = Object.entries<Field>(meta.fields).find(
    ([key, field]) => field.stdin === true && values[wireName(key)] === "-",
  )
  if (asked === undefined) return values
  const { readStdin } = await import("./read-stdin.ts")
  return { ...values, [wireName(asked[0])]: readStdin() }
}

/** Commands that first close what a killed process left open. */
const SWEEPING: ReadonlySet<string> = new Set(["start", "space", "run", "skills", "models", "config"])

/** They do the same, and report it. */
const REPAIRING: ReadonlySet<string> = new Set(["doctor", "space.close"])

/** A missing file of --config or MERIDIAN_CONFIG is an error even if no setting is needed. */
const requireOverlay = ({ env, cwd }: Pick<World, "env" | "cwd">): void => {
  const given = env["MERIDIAN_CONFIG"] ?? ""
  const path = resolve(cwd, given)
  if (given !== "" && !existsSync(path)) throw new Failure("CONFIG_NOT_FOUND", { path })
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const line = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)

const audienceNow = (): Audience => (agentMode(process.env) ? "agent" : "human")

const audienceOf = (globals: Globals): Audience => (globals.human ? "human" : audienceNow())

const checkFormat = (globals: Globals): void => {
  if (globals.format !== undefined && globals.format !== "text" && globals.format !== "json")
    throw new Failure("USAGE", {
      problem: `--format must be one of text, json, got ${JSON.stringify(globals.format)}.`,
      next: "use --format json or --format text.",
    })
}

/** For errors before the flags could be read: guesses from the words. */
const looksLikeJson = (words: readonly string[]): boolean => {
  const own = words.slice(0, words.includes("--") ? words.indexOf("--") : words.length)
  const format = own.find((word, index) => word.startsWith("--format=") || own[index - 1] === "--format")
  if (own.includes("--json") || format === "json" || format === "--format=json") return true
  if (format !== undefined || own.includes("--human") || audienceNow() === "human") return false
  const found = findCommand(words, COMMANDS)
  return found.tag !== "command" || found.command.meta.format !== "text"
}
