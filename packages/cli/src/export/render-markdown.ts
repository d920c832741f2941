/**
 * An export as Markdown. Only we write headings. Words are in quotes, calls and results in fences, so no text can
 * pass for another speaker, and showing the page fetches nothing.
 */
import { oneLine } from "@meridian/protocol"

import type { ExportEntry, ExportHead } from "./entry.ts"
import { hiddenSentence, type Renderer } from "./renderer.ts"

export const markdown: Renderer = {
  begin: (head) => `# ${escapeLine(head.title ?? head.session)}\n\n${factLines(head)}\n`,
  entry: (entry) => `\n${blockOf(entry)}\n`,
  end: ({ hidden, lost }) =>
    `\n---\n\n${hiddenSentence(hidden)}\n${lost.map((line) => `- ${escapeLine(line)}\n`).join("")}`,
}

const factLines = ({ session, harness, directory, began }: ExportHead): string =>
  [
    ["session", session],
    ["harness", harness],
    ["directory", directory],
    ["began", began],
  ]
    .flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${escapeLine(value)}\n`]))
    .join("")

const blockOf = (entry: ExportEntry): string => {
  const at = entry.time === undefined ? "" : ` · ${entry.time}`
  switch (entry.kind) {
    case "user":
      return `## User${at}\n\n${quoted(entry.text)}${filesOf(entry.files)}`
    case "assistant":
      return `## Assistant${entry.model === undefined ? "" : ` (${escapeLine(entry.model)})`}${at}\n\n${quoted(entry.text)}`
    case "reasoning":
      return `### Thinking${at}\n\n${quoted(entry.text)}`
    case "call":
      return `### Call of ${escapeLine(entry.tool)}${at}\n\n${fenced(inputText(entry.input), "")}`
    case "result":
      return `### ${entry.failed === true ? "Failed" : "Result"}${at}\n\n${fenced(entry.text, "")}${filesOf(entry.files)}`
    case "todo":
      return `### Todo${at}\n\n${entry.items.map(({ content, status }) => `- [${status === "completed" ? "x" : " "}] ${escapeLine(content)} (${status})`).join("\n")}`
    case "summary":
      return `### Summary of what was before${at}\n\n${quoted(entry.text)}`
    case "error":
      return `### Error${at}\n\n${quoted(entry.text)}`
  }
}

const inputText = (input: unknown): string =>
  typeof input === "string" ? input : JSON.stringify(input, null, 2)

const filesOf = (files: Extract<ExportEntry, { kind: "user" }>["files"]): string =>
  (files ?? [])
    .map(
      ({ media_type, name }) =>
        `\n\n*[attached: ${escapeLine(name ?? media_type)} (${escapeLine(media_type)})]*`,
    )
    .join("")

/** Longer than every fence inside. */
const fenced = (text: string, language: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`
}

/** Code keeps its form; outside it no tag and no picture is left. */
const quoted = (text: string): string => {
  let fence: string | undefined
  return text
    .split("\n")
    .map((line) => {
      const [, ticks] = /^\s{0,3}(`{3,}|~{3,})/.exec(line) ?? []
      if (fence === undefined && ticks !== undefined) {
        fence = ticks
        return `> ${line}`
      }
      if (fence !== undefined) {
        if (ticks !== undefined && ticks.startsWith(fence) && line.trim() === ticks) fence = undefined
        return `> ${line}`
      }
      return `> ${inert(line)}`
    })
    .join("\n")
}

const inert = (line: string): string =>
  line
    .split(/(`+[^`]*`+)/)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replaceAll("<", String.raw`\<`).replaceAll("![", String.raw`\![`),
    )
    .join("")

/** One line in which nothing is Markdown. */
const escapeLine = (text: string): string => oneLine(text).replaceAll(/[\\`*_[\]<>#|~!]/g, String.raw`\$&`)
