/**
 * What a prompt named and what was found, as the model sees it. Each thing is between our own tags, and no file content can
 * close them or speak for somebody else.
 */
import type { PromptPart, RecordedPrompt } from "@meridian/protocol"

import { withoutTags } from "./inert-text.ts"
import type { FilePart, TextPart } from "./prompt.ts"

/** The words of a prompt, or of the template that it named. */
export const promptText = ({ text, parts = [] }: RecordedPrompt): string =>
  parts.find(isCommand)?.text ?? text

const isCommand = (part: PromptPart): part is Extract<PromptPart, { readonly type: "text" }> =>
  part.type === "text" && part.kind === "command"

export const lowerParts = ({ parts = [] }: RecordedPrompt): readonly (TextPart | FilePart)[] =>
  parts.filter((part) => !isCommand(part)).flatMap(lowerPart)

/** For an agent that takes only text: an image is named, so that the agent can open it itself. */
export const attachedText = (parts: readonly PromptPart[]): string =>
  parts
    .filter((part) => !isCommand(part))
    .map((part) =>
      part.type === "media"
        ? `<attached source="${attribute(part.source)}" file="${attribute(part.name)}" type="${attribute(part.mediaType)}">\nIt is no text. Open it with your tools.\n</attached>`
        : lowerPart(part)
            .map((lowered) => (lowered.type === "text" ? lowered.text : ""))
            .join("\n"),
    )
    .join("\n\n")

/** A message that no person wrote. It says so. */
export const programText = (text: string): string =>
  `<program>\nNo person wrote this; the program you run in says it.\n${withoutTags(text, OURS)}\n</program>`

const OURS: ReadonlySet<string> = new Set([
  "attached",
  "unreadable",
  "program",
  "system",
  "systemupdate",
  "user",
  "assistant",
])

const lowerPart = (part: PromptPart): readonly (TextPart | FilePart)[] => {
  switch (part.type) {
    case "text":
      return [
        {
          type: "text",
          text: `<attached ${attributes(part)}>\n${withoutTags(part.text, OURS)}${part.text.endsWith("\n") ? "" : "\n"}</attached>`,
        },
      ]
    case "media":
      return [
        {
          type: "text",
          text: `<attached source="${attribute(part.source)}" type="${attribute(part.mediaType)}"/>`,
        },
        {
          type: "file",
          data: { type: "data", data: part.base64 },
          mediaType: part.mediaType,
          filename: part.name,
        },
      ]
    case "unreadable":
      return [
        {
          type: "text",
          text: `<unreadable source="${attribute(part.source)}">\n${withoutTags(part.problem, OURS)}\n</unreadable>`,
        },
      ]
  }
}

const attributes = (part: Extract<PromptPart, { readonly type: "text" }>): string =>
  [
    `source="${attribute(part.source)}"`,
    `${part.kind}="${attribute(part.name)}"`,
    ...(part.from === undefined || part.through === undefined
      ? []
      : [`lines="${part.from}-${part.through}"`]),
    ...(part.cut === true ? [`cut="true"`] : []),
  ].join(" ")

const attribute = (text: string): string =>
  text
    .slice(0, NAME_CHARACTERS)
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ")
    .replaceAll(/["<>]/gu, "'")

const NAME_CHARACTERS = 400

/** How many of its characters count towards the size of a prompt. */
export const partCharacters = (part: PromptPart): number => {
  switch (part.type) {
    case "text":
      return part.text.length
    case "media":
      return part.base64.length
    case "unreadable":
      return part.problem.length
  }
}
