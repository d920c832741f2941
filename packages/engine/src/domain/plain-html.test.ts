import { expect, test } from "vitest"

import { plainHtml } from "./plain-html.ts"

test("a page becomes its words, in lines, with its links", () => {
  const page = `<!doctype html><html><head><title>No</title><style>p{}</style></head><body><!-- a <b>c</b> --><h1>Title &amp; more</h1>
    <p>One <a href="https://example.org/x">link</a>.<br>Two &lt;tags&gt;</p><script>if (a < b) { alert("<p>no</p>") }</script>
    <ul><li>first<li>second</ul>1 < 2 &#x41;&#66;</body></html>`
  expect(plainHtml(page)).toBe(
    "# Title & more\n\nOne (https://example.org/x) link.\nTwo <tags>\n\n- first\n- second\n1 < 2 AB",
  )
})

test.each(["<", "<a", "<!--", "<script>", "&#x", "<p>", "</"])(
  "a long page of %j takes the time of its length",
  (piece) => {
    expect(plainHtml(piece.repeat(100_000)).length).toBeLessThanOrEqual(100_000 * piece.length)
  },
)
