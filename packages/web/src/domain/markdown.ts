/**
 * Markdown as plain data for a view to draw. The text comes from models, so nothing in it becomes markup. HTML is shown as
 * written, images are links, and only web and mail addresses can be followed.
 */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked"

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly inner: readonly Inline[] }
  | { readonly kind: "link"; readonly address: string; readonly inner: readonly Inline[] }
  | { readonly kind: "break" }

export type Block =
  | { readonly kind: "paragraph"; readonly inner: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly inner: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly inner: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly ListItem[] }
  | {
      readonly kind: "table"
      readonly head: readonly Cell[]
      readonly rows: readonly (readonly Cell[])[]
    }
  | { readonly kind: "rule" }

export interface ListItem {
  /** Undefined when the item is not a task. */
  readonly isDone: boolean | undefined
  readonly inner: readonly Block[]
}

export interface Cell {
  readonly align: "left" | "right" | "center" | undefined
  readonly inner: readonly Inline[]
}

/** For some texts the library takes quadratic time, so longer ones are shown as they are. */
export const MOST_MARKDOWN = 20_000
/** Deeper nesting is shown flat: nobody writes it, and every level is an element in the document. */
const DEEPEST = 12

/** Never throws. */
export const readMarkdown = (text: string): readonly Block[] => {
  if (text.length > MOST_MARKDOWN) return asWritten(text)
  try {
    return readBlocks(new Lexer({ gfm: true }).lex(text), 0)
  } catch {
    // The nesting is deeper than the library can follow.
    return asWritten(text)
  }
}

const asWritten = (text: string): readonly Block[] =>
  text === "" ? [] : [{ kind: "paragraph", inner: [{ kind: "text", text }] }]

const readBlocks = (tokens: readonly Token[], depth: number): readonly Block[] =>
  depth > DEEPEST
    ? asWritten(tokens.map(({ raw }) => raw).join(""))
    : tokens.flatMap((token) => readBlock(known(token), depth))

/** The library allows tokens of extensions; we use none. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
const known = (token: Token): MarkedToken => token as MarkedToken

const readBlock = (token: MarkedToken, depth: number): readonly Block[] => {
  switch (token.type) {
    case "heading":
      return [{ kind: "heading", level: token.depth, inner: readInlines(token.tokens, depth) }]
    case "paragraph":
      return [{ kind: "paragraph", inner: readInlines(token.tokens, depth) }]
    case "text":
      return [{ kind: "paragraph", inner: readInlines(token.tokens ?? [token], depth) }]
    case "code":
      return [{ kind: "code", language: languageOf(token.lang ?? ""), text: token.text }]
    case "blockquote":
      return [{ kind: "quote", inner: readBlocks(token.tokens, depth + 1) }]
    case "list":
      return [readList(token, depth)]
    case "table":
      return [readTable(token, depth)]
    case "hr":
      return [{ kind: "rule" }]
    case "html":
      return asWritten(token.raw.trim())
    case "space":
    case "def":
    case "checkbox":
      return []
    // These do not occur among blocks. They are shown rather than lost.
    case "br":
    case "codespan":
    case "del":
    case "em":
    case "escape":
    case "image":
    case "link":
    case "list_item":
    case "strong":
      return asWritten(token.raw)
  }
}

const readList = (token: Tokens.List, depth: number): Block => ({
  kind: "list",
  start: token.ordered ? Number(token.start) || 1 : undefined,
  items: token.items.map((item) => ({
    isDone: item.task ? item.checked === true : undefined,
    inner: readBlocks(item.tokens, depth + 1),
  })),
})

const readTable = (token: Tokens.Table, depth: number): Block => {
  const cell = ({ align, tokens }: Tokens.TableCell): Cell => ({
    align: align ?? undefined,
    inner: readInlines(tokens, depth),
  })
  return { kind: "table", head: token.header.map(cell), rows: token.rows.map((row) => row.map(cell)) }
}

const readInlines = (tokens: readonly Token[], depth: number): readonly Inline[] =>
  depth > DEEPEST
    ? [{ kind: "text", text: tokens.map(({ raw }) => raw).join("") }]
    : tokens.flatMap((token) => readInline(known(token), depth + 1))

const readInline = (token: MarkedToken, depth: number): readonly Inline[] => {
  switch (token.type) {
    case "strong":
      return [{ kind: "strong", inner: readInlines(token.tokens, depth) }]
    case "em":
      return [{ kind: "emphasis", inner: readInlines(token.tokens, depth) }]
    case "del":
      return [{ kind: "deleted", inner: readInlines(token.tokens, depth) }]
    case "codespan":
      return [{ kind: "code", text: token.text }]
    case "br":
      return [{ kind: "break" }]
    case "link":
      return readLink(token.href, readInlines(token.tokens, depth), token.raw)
    case "image":
      return readLink(token.href, [{ kind: "text", text: token.text || "image" }], token.raw)
    case "text":
      return token.tokens === undefined
        ? [{ kind: "text", text: withoutEntities(token.text) }]
        : readInlines(token.tokens, depth)
    case "escape":
      return [{ kind: "text", text: token.text }]
    case "checkbox":
      return []
    // HTML, and tokens that do not occur in text.
    case "html":
    case "blockquote":
    case "code":
    case "def":
    case "heading":
    case "hr":
    case "list":
    case "list_item":
    case "paragraph":
    case "space":
    case "table":
      return [{ kind: "text", text: token.raw }]
  }
}

/** An address that cannot be followed is shown as written. */
const readLink = (address: string, inner: readonly Inline[], raw: string): readonly Inline[] =>
  /^(?:https?:\/\/|mailto:)/i.test(address)
    ? [{ kind: "link", address, inner }]
    : [{ kind: "text", text: raw }]

const languageOf = (info: string): string => /^[\w+#.-]{1,30}/.exec(info)?.[0] ?? ""

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
}

const withoutEntities = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity)
