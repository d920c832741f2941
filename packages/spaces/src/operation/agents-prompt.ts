/**
 * The text of a launch: reads files and variables, then puts everything in order (`domain/prompt-text.ts`). A harness
 * that knows agents gets the agent as one; others get it in the text.
 */
import { statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { Failure } from "@meridian/protocol"

import type { AgentProfile } from "../domain/agent-profile.ts"
import {
  composePrompt,
  fillVariables,
  readVariable,
  type ComposedPrompt,
  type NamedThings,
  type PromptParts,
} from "../domain/prompt-text.ts"
import type { HarnessCapabilities, NativeAgent } from "../port/harness.ts"
import type { ResolvedLaunch } from "./agents-launch.ts"

export interface PromptWish {
  readonly prompt: string
  /** `-f`: paths relative to `cwd`, or `@name` inside the space's `fs`. */
  readonly files: readonly string[]
  /** `--var`: KEY=VALUE or KEY=@path. */
  readonly variables: readonly string[]
  readonly cwd: string
  /** Undefined while there is no space (a dry run without one); `@name` is then refused. */
  readonly spaceFs: string | undefined
  readonly wantsReport: boolean
}

export interface LaunchPrompt extends ComposedPrompt {
  /** For `LaunchRequest.agent`. The profile is then not in `instructions`. */
  readonly nativeAgent?: NativeAgent
  /** Absolute paths of the references. */
  readonly files: readonly string[]
  readonly variables: ReadonlyMap<string, string>
  /** `prompt` once its names were looked up. */
  readonly withNames: (named: NamedThings) => string
}

export const composeLaunch = (
  wish: PromptWish,
  launch: Pick<ResolvedLaunch, "agent" | "skills">,
  capabilities: Pick<HarnessCapabilities, "nativeAgent">,
): LaunchPrompt => {
  const references = wish.files.map((file) => readReference(referenceOf(file, wish)))
  const variables = new Map(wish.variables.map((assignment) => resolveVariable(assignment, wish.cwd)))
  const native = capabilities.nativeAgent && launch.agent !== undefined
  const parts: PromptParts = {
    skills: launch.skills,
    agentBody: native ? undefined : launch.agent?.body,
    references,
    variables,
    prompt: wish.prompt,
    wantsReport: wish.wantsReport,
  }
  const composed = composePrompt(parts)
  if (composed.undefinedVariables.length > 0)
    throw new Failure("VARIABLE_UNDEFINED", { names: composed.undefinedVariables.join(", ") })
  const files = references.map(({ path }) => path)
  const withNames = (named: NamedThings): string => composePrompt({ ...parts, named }).prompt
  return native && launch.agent !== undefined
    ? { ...composed, files, variables, withNames, nativeAgent: nativeAgentOf(launch.agent, variables) }
    : { ...composed, files, variables, withNames }
}

const nativeAgentOf = (agent: AgentProfile, variables: ReadonlyMap<string, string>): NativeAgent => ({
  name: agent.name,
  description: agent.description === "" ? agent.name : agent.description,
  body: fillVariables(agent.body, variables),
  ...(agent.allowedTools === undefined ? {} : { tools: agent.allowedTools }),
})

const LARGEST_REFERENCE_BYTES = 4_194_304

interface Reference {
  readonly path: string
  /**
   * The folder the file must really be in: agents write into `fs/`, and a link there must not fetch files from
   * elsewhere.
   */
  readonly root: string
}

const referenceOf = (file: string, wish: PromptWish): Reference => {
  if (!file.startsWith("@")) return { path: resolve(wish.cwd, file), root: "/" }
  const name = file.slice(1)
  if (name === "")
    throw new Failure("USAGE", {
      problem: "Reference path after '@' must not be empty.",
      next: "use '-f @name' for a file in the space's fs folder.",
    })
  if (wish.spaceFs === undefined) throw new Failure("SPACE_REQUIRED")
  const path = join(wish.spaceFs, name)
  if (isAbsolute(name) || !path.startsWith(`${wish.spaceFs}/`)) throw outside(file)
  return { path, root: wish.spaceFs }
}

const outside = (path: string): Failure =>
  new Failure("REFERENCE_UNREADABLE", { path, problem: "it is outside the space's fs folder" })

const readReference = ({ path, root }: Reference): { readonly path: string; readonly content: string } => {
  const found = readWhole(root, path, LARGEST_REFERENCE_BYTES)
  if (found.kind === "absent") throw new Failure("REFERENCE_NOT_FOUND", { path })
  if (found.kind === "refused") {
    if (found.reason === "outside of the root") throw outside(path)
    throw new Failure("REFERENCE_UNREADABLE", { path, problem: PROBLEMS[found.reason] ?? found.reason })
  }
  if (found.text.includes("\0"))
    throw new Failure("REFERENCE_UNREADABLE", { path, problem: "it is not a text file" })
  return { path, content: found.text }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  "not a regular file": "it is not a file",
  "larger than 4 MiB": "it is larger than 4 MiB",
}

const resolveVariable = (assignment: string, cwd: string): readonly [string, string] => {
  const read = readVariable(assignment)
  switch (read.tag) {
    case "wrong":
      throw new Failure("VARIABLE_INVALID", { assignment })
    case "text":
      return [read.name, read.value]
    case "file": {
      const path = resolve(cwd, read.path)
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
        throw new Failure("VARIABLE_FILE_MISSING", { name: read.name, path })
      return [read.name, readReference({ path, root: "/" }).content.trimEnd()]
    }
  }
}
