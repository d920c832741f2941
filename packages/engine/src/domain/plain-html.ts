/** An HTML page as readable text: its words in lines, its links with their addresses. Linear in the length of the page. */
export const plainHtml = (html: string): string => {
  const lines: string[] = []
  let line = ""
  /** Set inside an element whose content is not text. */
  let hidden = ""
  const end = (): void => {
    const words = line.replaceAll(/\s+/gu, " ").trim()
    if (words !== "" || lines.at(-1) !== "") lines.push(words)
    line = ""
  }
  for (const piece of html.split("<")) {
    if (hidden === "!--" || piece.startsWith("!--")) {
      const over = piece.indexOf("-->")
      hidden = over === -1 ? "!--" : ""
      if (over !== -1) line += decoded(piece.slice(over + 3))
      continue
    }
    const tag = /^[/!?]?[a-z][a-z0-9]*/iu.exec(piece)?.[0].toLowerCase()
    if (hidden !== "") {
      if (tag !== `/${hidden}`) continue
      hidden = ""
    } else if (tag !== undefined && HIDDEN.has(tag)) {
      hidden = tag
      continue
    }
    if (tag === undefined) {
      // Not a tag after all, only a `<` in the text.
      line += decoded(lines.length === 0 && line === "" ? piece : `<${piece}`)
      continue
    }
    const close = piece.indexOf(">")
    if (BLOCKS.has(tag.replace("/", ""))) end()
    if (/^h[1-6]$/u.test(tag)) line += `${"#".repeat(Number(tag[1]))} `
    if (tag === "li") line += "- "
    const href =
      tag === "a"
        ? /\shref\s*=\s*["']?(https?:[^"'\s>]{1,500})/iu.exec(piece.slice(0, close))?.[1]
        : undefined
    if (href !== undefined) line += `(${href}) `
    line += close === -1 ? "" : decoded(piece.slice(close + 1))
  }
  end()
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/gu, "\n\n")
    .trim()
}

const HIDDEN: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "head"])
const BLOCKS: ReadonlySet<string> = new Set(
  "p div br li ul ol h1 h2 h3 h4 h5 h6 tr table section article header footer nav main pre blockquote hr dt dd title".split(
    " ",
  ),
)

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
}

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/giu, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code > 0 && code <= 0x10_ff_ff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : " "
  })
