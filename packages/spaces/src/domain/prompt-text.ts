/**
 * The text a harness is given, in this order (empty parts are left out):
 *
 *   standing   1 `# Skill: <name>` blocks   2 `# Agent Profile`
 *   asking     3 `# Reference: <path>`, then what the prompt names      4 `# Report`      5 the prompt itself
 *
 * A harness that knows agents gets 2 natively. A harness with a place for standing text gets 1 and 2 there. Any other
 * gets them before the prompt. A continued conversation already has 1 and 2.
 */
export interface PromptParts {
  readonly skills: readonly { readonly name: string; readonly body: string }[]
  /** Undefined if the harness takes the profile natively. */
  readonly agentBody: string | undefined
  readonly references: readonly { readonly path: string; readonly content: string }[]
  readonly variables: ReadonlyMap<string, string>
  readonly prompt: string
  /** Looked up already; its words replace the prompt's. */
  readonly named?: NamedThings
  /** A run ends with a report; a conversation does not. */
  readonly wantsReport: boolean
}

/** What a prompt names with `@` or as a command, as text. */
export interface NamedThings {
  /** The prompt itself, or the template that it named. */
  readonly words: string
  /** What was found, and why the rest was not; "" if there is nothing beside the words. */
  readonly attached: string
  /** One sentence for each thing that could not be read. */
  readonly unreadable: readonly string[]
}

export interface ComposedPrompt {
  /** Parts 1 and 2, or "". */
  readonly instructions: string
  /** Parts 3 to 5. */
  readonly prompt: string
  /** Part 5 alone: the caller's words, without anything of ours. */
  readonly task: string
  /** Placeholders of the prompt without a variable, in order. */
  readonly undefinedVariables: readonly string[]
}

export const composePrompt = (parts: PromptParts): ComposedPrompt => {
  // Without variables, files and profiles stay as they are.
  const fill = (text: string): string =>
    parts.variables.size === 0 ? text : fillVariables(text, parts.variables)
  const standing = [
    ...parts.skills.map((skill) => `# Skill: ${skill.name}\n\n${skill.body}`),
    ...(parts.agentBody === undefined || parts.agentBody.trim() === ""
      ? []
      : [`# Agent Profile\n\n${fill(parts.agentBody)}`]),
  ]
  const task = fillVariables(parts.prompt, parts.variables)
  const asking = [
    ...parts.references.map(({ path, content }) => `# Reference: ${path}\n\n${fill(content).trimEnd()}`),
    ...(parts.named === undefined || parts.named.attached === "" ? [] : [parts.named.attached]),
    ...(parts.wantsReport ? [REPORT_INSTRUCTION] : []),
    parts.named?.words ?? task,
  ]
  return {
    instructions: standing.join("\n\n"),
    prompt: asking.join("\n\n"),
    task: task.trim(),
    undefinedVariables:
      parts.variables.size === 0
        ? []
        : placeholdersOf(parts.prompt).filter((name) => !parts.variables.has(name)),
  }
}

/** The whole text in order, for harnesses without a place for standing text and for `--dry-run`. */
export const wholePrompt = (composed: Pick<ComposedPrompt, "instructions" | "prompt">): string =>
  composed.instructions === "" ? composed.prompt : `${composed.instructions}\n\n${composed.prompt}`

export const REPORT_INSTRUCTION = `# Report

Your final message is the report of this run; whoever started you reads nothing else. Say what was done, which decisions were made and why, which files were created or changed, what was verified and how, and what is blocked or left open. If MERIDIAN_REPORT_PATH is set you may write a longer report to that file instead.`

/** The prompt itself, which comes last in the text a harness was given. */
export const promptItself = (whole: string): string => {
  const at = whole.lastIndexOf(REPORT_INSTRUCTION)
  return (at === -1 ? whole : whole.slice(at + REPORT_INSTRUCTION.length)).trim()
}

export type VariableReading =
  | { readonly tag: "text"; readonly name: string; readonly value: string }
  | { readonly tag: "file"; readonly name: string; readonly path: string }
  | { readonly tag: "wrong" }

/** `KEY=VALUE`, or `KEY=@path` for the content of a file. */
export const readVariable = (assignment: string): VariableReading => {
  const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(assignment)
  if (match === null) return { tag: "wrong" }
  const [, name = "", value = ""] = match
  return value.startsWith("@") && value.length > 1
    ? { tag: "file", name, path: value.slice(1) }
    : { tag: "text", name, value }
}

/** `\{{` is two literal braces; `{{ name }}` is a placeholder. */
const PLACEHOLDER = /\\\{\{|\{\{\s*([A-Za-z_]\w*)\s*\}\}/g

/** Goes over the text once: placeholders inside a value are not filled. */
export const fillVariables = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replaceAll(PLACEHOLDER, (whole, name: string | undefined) =>
    name === undefined ? "{{" : (variables.get(name) ?? whole),
  )

const placeholdersOf = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].flatMap((match) => match[1] ?? [])),
]
