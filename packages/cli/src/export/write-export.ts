/** Turns a conversation into the text of its export, written piece by piece. */
import { oneLine } from "@meridian/protocol"

import type { Conversation } from "../sessions/open-conversation.ts"
import { sessionName } from "../sessions/session-name.ts"
import { entryOf, type ExportHead } from "./entry.ts"
import type { ExportFormat } from "./formats.ts"
import { openHiding, type Hiding } from "./hide-secrets.ts"
import { html } from "./render-html.ts"
import { openJsonRenderer } from "./render-json.ts"
import { markdown } from "./render-markdown.ts"
import type { ExportEnd, Renderer } from "./renderer.ts"

export const writeExport = async (
  conversation: Conversation,
  options: {
    readonly format: ExportFormat
    readonly env: Readonly<Record<string, string | undefined>>
    readonly write: (text: string) => void
  },
): Promise<ExportEnd> => {
  const { write, format } = options
  const hiding = openHiding(options.env)
  const renderer = RENDERERS[format]()
  write(renderer.begin(headOf(conversation, hiding)))
  for await (const piece of conversation.pieces()) {
    const entry = entryOf(piece, hiding)
    if (entry !== undefined) write(renderer.entry(entry))
  }
  // An export keeps thoughts as they are. Only an import must turn them into text.
  const lost = conversation.losses.list().flatMap(({ kind, text }) => (kind === "thinking" ? [] : [text]))
  const end = { hidden: hiding.counts(), lost }
  write(renderer.end(end))
  return end
}

const RENDERERS: Readonly<Record<ExportFormat, () => Renderer>> = {
  md: () => markdown,
  html: () => html,
  json: openJsonRenderer,
}

const TITLE_CHARACTERS = 120

const headOf = ({ name, about }: Conversation, hiding: Hiding): ExportHead => ({
  session: sessionName(name),
  harness: name.keeper,
  ...(about.title === undefined ? {} : { title: oneLine(hiding.text(about.title), TITLE_CHARACTERS) }),
  ...(about.directory === undefined ? {} : { directory: about.directory }),
  ...(about.began === undefined ? {} : { began: new Date(about.began).toISOString() }),
})
