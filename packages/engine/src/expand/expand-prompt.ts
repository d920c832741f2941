/**
 * Finds what a prompt names, once, before it is admitted. The prompt's words stay as written, and the findings are stored
 * beside them, so that later changes to the named things do not matter.
 */
import type { PromptPart } from "@meridian/protocol"

import { fillTemplate, readCommandCall } from "../domain/command-template.ts"
import { MOST_MENTIONS, readMentions } from "../domain/mentions.ts"
import type { Expanded, ExpandRequest } from "../port/location.ts"
import { machineDeadline } from "../port/machine-time.ts"
import { ToolError } from "../port/tool.ts"
import { errorLine } from "../tool/describe-error.ts"
import { EXPAND_LIMITS } from "./limits.ts"
import { readMention, type Asked, type Sight } from "./read-mention.ts"
import { sha256 } from "./read-part.ts"
import { openRoom } from "./room.ts"
import { findTemplate, type Template, type TemplatePlaces } from "./templates.ts"

export interface ExpandOptions extends Sight {
  readonly templates: TemplatePlaces
  /** Shell lines of project templates may run, where the rules allow the command. */
  readonly shell: boolean
  /** Runs one command and returns its output; rejects with the reason when it did not run. */
  readonly run: (command: string, signal: AbortSignal) => Promise<string>
}

export const expandPrompt = async (request: ExpandRequest, options: ExpandOptions): Promise<Expanded> => {
  const signal = AbortSignal.any([request.signal, machineDeadline(EXPAND_LIMITS.wholeMs)])
  const asked: Asked = { ...request, signal, room: openRoom(request.spareBytes) }
  const command = await expandCommand(request.text, asked, options)
  const { mentions, more } = readMentions(command?.words ?? request.text)
  const parts: PromptPart[] = [...(command?.parts ?? [])]
  const read: Expanded["read"][number][] = []
  // One at a time, because earlier mentions get the room first.
  for (const mention of mentions) {
    const seen = await readMention(mention, options, asked)
    parts.push(...seen.parts)
    read.push(...seen.read)
  }
  request.signal.throwIfAborted()
  if (more > 0)
    parts.push({
      type: "unreadable",
      source: "@",
      problem: `${more} more mentions were not looked at: at most ${MOST_MENTIONS} are.`,
    })
  return { parts, read }
}

interface Command {
  /** The template's own words, without the output of its shell lines. Only these are searched for mentions. */
  readonly words: string
  readonly parts: readonly PromptPart[]
}

/** Undefined when no template has the name; then the text stays as it is. A template cannot call another. */
const expandCommand = async (
  text: string,
  asked: Asked,
  options: ExpandOptions,
): Promise<Command | undefined> => {
  const call = readCommandCall(text)
  const template = call === undefined ? undefined : await findTemplate(call.name, options.templates)
  if (call === undefined || template === undefined) return undefined
  const problems: PromptPart[] = unmetWishes(template, asked.cast).map((problem) => ({
    type: "unreadable",
    source: `/${template.name}`,
    problem,
  }))
  const words: string[] = []
  const whole: string[] = []
  let commands = 0
  for (const piece of fillTemplate(template.body, call.arguments)) {
    if (piece.kind === "text") {
      words.push(piece.text)
      whole.push(piece.text)
      continue
    }
    commands += 1
    const ran = await runLine(piece.command, { template, commands }, asked, options)
    whole.push(ran.text)
    if (ran.problem !== undefined)
      problems.push({ type: "unreadable", source: `/${template.name}`, problem: ran.problem })
  }
  const filled = whole.join("").trim()
  const found = { source: `/${template.name}`, name: template.path === "" ? template.name : template.path }
  const part: PromptPart = {
    type: "text",
    kind: "command",
    ...found,
    text: filled === "" ? `/${template.name}` : filled,
    bytes: Buffer.byteLength(template.body),
    sha256: sha256(filled),
  }
  return { words: words.join(""), parts: [part, ...problems] }
}

/** A file of the project must not change who works, and with which rights. People switch themselves. */
const unmetWishes = ({ wants }: Template, cast: Asked["cast"]): readonly string[] =>
  (["agent", "model"] as const).flatMap((what) => {
    const wanted = wants[what]
    return wanted === undefined || wanted === cast[what]
      ? []
      : [
          `It asks for the ${what} ${wanted}. A template does not switch: the ${what} of the session works on it.`,
        ]
  })

const runLine = async (
  command: string,
  { template, commands }: { readonly template: Template; readonly commands: number },
  { may, signal }: Asked,
  { shell, run }: ExpandOptions,
): Promise<{ readonly text: string; readonly problem?: string }> => {
  const refused =
    template.isOfProject && !shell
      ? "shell lines of a project's templates run only in a trusted folder"
      : commands > EXPAND_LIMITS.templateCommands
        ? `a template runs at most ${EXPAND_LIMITS.templateCommands} commands`
        : may("bash", command) === "allow"
          ? undefined
          : "no rule allows bash to run it unasked"
  if (refused !== undefined)
    return { text: `(not run: ${command})`, problem: `${command} was not run: ${refused}.` }
  try {
    const output = await run(command, signal)
    const isCut = output.length > EXPAND_LIMITS.commandCharacters
    return { text: isCut ? `${output.slice(0, EXPAND_LIMITS.commandCharacters)}\n(cut)` : output }
  } catch (error) {
    const why = error instanceof ToolError ? error.message : errorLine(error)
    return { text: `(failed: ${command})`, problem: `${command} failed: ${why}` }
  }
}
