/**
 * A skill that an agent loaded, through its host's tool or, without such a tool, by reading the file. The body is what the
 * author wrote, without the tool's additions.
 */
import { parseObject, textAt, wordAt, type JsonObject } from "@meridian/protocol"

import { commandOf, toolPaths } from "../working-set/tool-paths.ts"

export interface LoadedSkill {
  readonly name: string
  /** Empty when the tool only reports that the skill exists. */
  readonly body: string
}

/** Whether the outcome of this call will contain a skill. */
export const mayLoadSkill = (tool: string, input: JsonObject | undefined): boolean =>
  SKILL_TOOL.test(tool) || fileOf(tool, input) !== undefined

export const loadedSkill = (
  tool: string,
  input: JsonObject | undefined,
  output: string,
): LoadedSkill | undefined => {
  if (SKILL_TOOL.test(tool)) {
    const name = textAt(input, "name") ?? textAt(input, "skill") ?? wordAt(input, "command")
    return name === "" ? undefined : { name, body: bodyOf(output) }
  }
  const name = fileOf(tool, input)
  return name === undefined ? undefined : { name, body: bodyOf(output) }
}

const SKILL_TOOL = /^skill$/i
const SKILL_FILE = /([\w.-]{1,80})[\\/]SKILL\.md\b/

const fileOf = (tool: string, input: JsonObject | undefined): string | undefined => {
  const command = commandOf(input)
  if (command !== "") return SKILL_FILE.exec(command)?.[1]
  return /^(?:read|view)$/i.test(tool)
    ? toolPaths({ tool, input }).flatMap((path) => SKILL_FILE.exec(path)?.[1] ?? [])[0]
    : undefined
}

const bodyOf = (output: string): string => {
  // "Launching skill: x" only announces it. The body comes with the next line.
  if (output.startsWith("Launching skill:")) return ""
  return withoutNumbers(withoutShell(withoutWrapper(output)))
}

/**
 * OpenCode: `<skill_content name="x">`, a heading, the body, then the place of its files. Our engine: `Skill x (path):`, a
 * blank line, the body.
 */
const withoutWrapper = (output: string): string => {
  const told = /^Skill [^\n]{1,300} \([^\n]{1,4096}\):\n\n/.exec(output)?.[0]
  if (told !== undefined) return output.slice(told.length)
  const start = /^<skill_content[^>]*>\n(?:# Skill: [^\n]*\n+)?/.exec(output)?.[0]
  if (start === undefined) return output
  const end = output.indexOf("\n\nBase directory for this skill:")
  return output.slice(start.length, end === -1 ? output.lastIndexOf("</skill_content>") : end)
}

/** Codex: some lines about the process, then `Output:`. Older versions wrap it in JSON. */
const withoutShell = (output: string): string => {
  const text = (output.startsWith("{") ? textAt(parseObject(output), "output") : undefined) ?? output
  const at = text.indexOf("\nOutput:\n")
  return at === -1 ? text : text.slice(at + "\nOutput:\n".length)
}

/** Tools that read files number the lines: `1\ttext`, ` 1→text`, `00001| text`, `1: text`. */
const withoutNumbers = (text: string): string => {
  const lines = text.replaceAll(/^<(?:file|content)>\n|\n<\/(?:file|content)>[^]*$/g, "").split("\n")
  const numbered = lines.filter((line) => NUMBER.test(line))
  return numbered.length * 2 > lines.length ? lines.map((line) => line.replace(NUMBER, "")).join("\n") : text
}

const NUMBER = /^\s*\d{1,6}(?:[→\t]|\| |: )/
