/** A Markdown file with a block of YAML between `---` lines at its very start. */
export interface FrontMatter {
  /** YAML source, without the fence lines. Undefined if the file has none. */
  readonly yaml: string | undefined
  readonly body: string
}

export const splitFrontMatter = (text: string): FrontMatter => {
  const content = text.startsWith("\uFEFF") ? text.slice(1) : text
  const opened = /^---[ \t]*\r?\n/.exec(content)
  if (opened === null) return { yaml: undefined, body: content.trim() }
  const rest = content.slice(opened[0].length)
  const closed = /^---[ \t]*(\r?\n|$)/m.exec(rest)
  if (closed === null) return { yaml: undefined, body: content.trim() }
  return { yaml: rest.slice(0, closed.index), body: rest.slice(closed.index + closed[0].length).trim() }
}

/** `skills: a, b`, `skills: [a, b]` and a list of lines mean the same. */
export const textList = (value: unknown): readonly string[] => {
  const items: readonly unknown[] =
    typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : []
  return items.flatMap((item) => (typeof item === "string" && item.trim() !== "" ? [item.trim()] : []))
}

/** A number or boolean in place of text reads as its author typed it. */
export const textValue = (value: unknown): string | undefined => {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim()
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
}
