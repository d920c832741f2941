/** What an engine is opened with comes from outside: every part is looked at before anything is opened. */
import { Failure } from "@meridian/protocol"

import type { EngineOptions } from "./api.ts"

type Fields = Readonly<Record<string, unknown>>

export const checkOptions = (options: EngineOptions): void => {
  const given = fieldsOf(options, "The options")
  if (typeof given["database"] !== "string" || given["database"] === "")
    throw invalid('`database` is the path of a file, or ":memory:"')
  if (
    given["stateRoot"] !== undefined &&
    (typeof given["stateRoot"] !== "string" || given["stateRoot"] === "")
  )
    throw invalid("`stateRoot` is the path of a folder")
  const ids = listOf(given["models"], "`models`").map((model, index) =>
    String(fieldsOf(model, `Model ${index + 1}`)["id"]),
  )
  unique(ids, "model")
  checkRules(given["permissions"], "`permissions`")
  for (const [index, agent] of optionalList(given["agents"], "`agents`").entries()) {
    const fields = fieldsOf(agent, `Agent ${index + 1}`)
    checkText(fields, "name", `Agent ${index + 1}`)
    checkRules(fields["permissions"], `The permissions of agent ${String(fields["name"])}`)
  }
  for (const [index, tool] of optionalList(given["tools"], "`tools`").entries()) {
    const fields = fieldsOf(tool, `Tool ${index + 1}`)
    checkText(fields, "name", `Tool ${index + 1}`)
    checkText(fields, "description", `Tool ${String(fields["name"])}`)
    checkFunction(fields, "execute", `Tool ${String(fields["name"])}`)
    fieldsOf(fields["input"], `The input schema of tool ${String(fields["name"])}`)
  }
  const keys = optionalList(given["context"], "`context`").map((source, index) => {
    const fields = fieldsOf(source, `Context source ${index + 1}`)
    checkText(fields, "key", `Context source ${index + 1}`)
    checkFunction(fields, "observe", `Context source ${String(fields["key"])}`)
    const { baseline } = fields
    if (typeof baseline !== "string" && typeof baseline !== "function")
      throw invalid(`Context source ${String(fields["key"])} needs a \`baseline\`: a text or a function`)
    return String(fields["key"])
  })
  unique(keys, "context source")
  for (const entry of optionalList(given["instructions"], "`instructions`"))
    if (typeof entry !== "string" || entry === "")
      throw invalid("`instructions` are paths, globs or addresses")
  for (const name of optionalList(given["keepVariables"], "`keepVariables`"))
    if (typeof name !== "string" || name === "") throw invalid("`keepVariables` are names of variables")
  if (typeof (given["asksAgain"] ?? false) !== "boolean") throw invalid("`asksAgain` is true or false")
  const { recover } = given
  if (
    Array.isArray(recover)
      ? recover.some((id) => typeof id !== "string")
      : typeof (recover ?? true) !== "boolean"
  )
    throw invalid("`recover` is true, false or a list of session ids")
  checkNumbers(given["retry"], "retry", { attempts: 1, baseMs: 0 })
  checkNumbers(given["compaction"], "compaction", { buffer: 0, keepTokens: 0, timeoutMs: 1 })
}

const EFFECTS: ReadonlySet<unknown> = new Set(["allow", "ask", "deny"])

const checkRules = (rules: unknown, what: string): void => {
  for (const rule of optionalList(rules, what)) {
    const { action, resource, effect } = fieldsOf(rule, `A rule of ${what}`)
    if (typeof action !== "string" || typeof resource !== "string" || !EFFECTS.has(effect))
      throw invalid(`A rule of ${what} has an action, a resource and the effect "allow", "ask" or "deny"`)
  }
}

const checkNumbers = (given: unknown, what: string, least: Readonly<Record<string, number>>): void => {
  if (given === undefined) return
  const fields = fieldsOf(given, `\`${what}\``)
  for (const [name, bound] of Object.entries(least)) {
    const value = fields[name]
    if (value !== undefined && (typeof value !== "number" || !Number.isFinite(value) || value < bound))
      throw invalid(`\`${what}.${name}\` is a number of at least ${bound}, not ${JSON.stringify(value)}`)
  }
}

const unique = (names: readonly string[], what: string): void => {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalid(`Two ${what}s are called ${twice}`)
}

const optionalList = (value: unknown, what: string): readonly unknown[] =>
  value === undefined ? [] : listOf(value, what)

const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw invalid(`${what} must be a list`)
  return value
}

export const fieldsOf = (value: unknown, what: string): Fields => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(`${what} must be an object`)
  return Object.fromEntries(Object.entries(value))
}

const checkText = (fields: Fields, name: string, what: string): void => {
  if (typeof fields[name] !== "string" || fields[name] === "") throw invalid(`${what} needs a \`${name}\``)
}

const checkFunction = (fields: Fields, name: string, what: string): void => {
  if (typeof fields[name] !== "function") throw invalid(`${what} needs a function \`${name}\``)
}

/** The id of a session, in whatever it was given. */
export const sessionOf = (value: unknown): string => {
  if (typeof value !== "string" || value === "") throw invalid("A session id is a text")
  return value
}

/** An object that names a session. */
export const aboutSession = <Input extends { readonly sessionID: string }>(
  input: Input,
  ...texts: readonly string[]
): Input => {
  const fields = fieldsOf(input, "The request")
  sessionOf(fields["sessionID"])
  for (const name of texts) checkText(fields, name, "The request")
  return input
}

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })
