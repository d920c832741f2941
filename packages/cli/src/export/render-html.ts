/**
 * An export as one self-contained page: no script, no address, pictures inside. Everything that was said is text.
 * Even if it were not, the page's own rule (Content-Security-Policy) would stop a browser from fetching anything.
 */
import type { ExportEntry, ExportedFile, ExportHead } from "./entry.ts"
import { hiddenSentence, type Renderer } from "./renderer.ts"

export const html: Renderer = {
  begin: (head) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escape(head.title ?? head.session)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escape(head.title ?? head.session)}</h1>
<dl>${facts(head)}</dl>
<main>
`,
  entry: (entry) => `${blockOf(entry)}\n`,
  end: ({ hidden, lost }) =>
    `</main>\n<footer><p>${escape(hiddenSentence(hidden))}</p>${lost.length === 0 ? "" : `<ul>${lost.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>`}</footer>\n</body>\n</html>\n`,
}

const STYLE =
  ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{opacity:.7}dd{margin:0}section,details{margin:1rem 0;padding:.6rem 1rem;border-left:.25rem solid #8888}section.user{border-color:#36c}section.error{border-color:#c33}h2,summary{font-size:.9rem;margin:0 0 .4rem;opacity:.8}.said{white-space:pre-wrap;overflow-wrap:anywhere}pre{overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere;font:.85rem/1.4 ui-monospace,monospace;margin:.4rem 0}img{max-width:100%}footer{opacity:.7;border-top:1px solid #8888}"

const facts = ({ session, harness, directory, began }: ExportHead): string =>
  [
    ["session", session],
    ["harness", harness],
    ["directory", directory],
    ["began", began],
  ]
    .flatMap(([name = "", value]) =>
      value === undefined ? [] : [`<dt>${name}</dt><dd>${escape(value)}</dd>`],
    )
    .join("")

const blockOf = (entry: ExportEntry): string => {
  const at = entry.time === undefined ? "" : ` · ${escape(entry.time)}`
  switch (entry.kind) {
    case "user":
      return section("user", `User${at}`, said(entry.text) + files(entry.files))
    case "assistant":
      return section(
        "assistant",
        `Assistant${entry.model === undefined ? "" : ` (${escape(entry.model)})`}${at}`,
        said(entry.text),
      )
    case "error":
      return section("error", `Error${at}`, said(entry.text))
    case "reasoning":
      return details(`Thinking${at}`, said(entry.text))
    case "summary":
      return details(`Summary of what was before${at}`, said(entry.text))
    case "call": {
      const input = typeof entry.input === "string" ? entry.input : JSON.stringify(entry.input, null, 2)
      return details(`Call of ${escape(entry.tool)}${at}`, `<pre>${escape(input)}</pre>`)
    }
    case "result":
      return details(
        `${entry.failed === true ? "Failed" : "Result"}${at}`,
        `<pre>${escape(entry.text)}</pre>${files(entry.files)}`,
      )
    case "todo": {
      const rows = entry.items.map(({ content, status }) => `<li>${escape(content)} (${status})</li>`)
      return details(`Todo${at}`, `<ul>${rows.join("")}</ul>`)
    }
  }
}

const section = (kind: string, title: string, body: string): string =>
  `<section class="${kind}"><h2>${title}</h2>${body}</section>`

const details = (title: string, body: string): string =>
  `<details><summary>${title}</summary>${body}</details>`

const said = (text: string): string => `<div class="said">${escape(text)}</div>`

const files = (list: readonly ExportedFile[] | undefined): string =>
  (list ?? [])
    .map(({ media_type, name, base64 }) =>
      base64 === undefined
        ? `<p>[attached: ${escape(name ?? media_type)}]</p>`
        : `<p><img alt="${escape(name ?? media_type)}" src="data:${escape(media_type)};base64,${base64}"></p>`,
    )
    .join("")

const MARKS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (mark) => MARKS[mark] ?? mark)
