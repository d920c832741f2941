/** Nothing that a model, a file or a name contains reaches the document except as plain text. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { ASK_FOR_BASH, isLive } from "./page-data.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

/** A colour, a terminal title, a bell, and a mark that reverses the writing direction. */
const WICKED = "\u001b[31mred\u001b]0;owned\u0007\u0007 \u202egpj.exe"
const OBEYED = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u

/** Runs in the page. */
const EVERYTHING_SHOWN = `[document.title, document.body.textContent, ...[...document.querySelectorAll("*")].flatMap((element) =>
  ["title", "aria-label", "placeholder", "alt"].map((name) => element.getAttribute(name) ?? ""))]`

test("controls and marks of direction in every kind of text are shown, not obeyed, on every place of the page", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      {
        reasoning: `thinking ${WICKED}`,
        text: `saying ${WICKED}`,
        tools: [{ name: "read", input: { path: "wicked.txt" } }],
      },
      {
        text: "asking",
        tools: [{ name: "bash", input: { command: `echo ${WICKED}`, description: WICKED } }],
      },
    ],
    permissions: ASK_FOR_BASH,
    prepare: async ({ client, directory }) => {
      writeFileSync(join(directory, "wicked.txt"), `${WICKED}\n`)
      await client.sessions.create({ id: "ses_1", location: { directory }, title: `Title ${WICKED}` })
      await client.sessions.prompt({ sessionID: "ses_1", prompt: { text: `prompt ${WICKED}` } })
      await client.sessions.prompt({
        sessionID: "ses_1",
        prompt: { text: `later ${WICKED}` },
        delivery: "queue",
      })
    },
  })
  const { page } = scene
  const shown = async (): Promise<string> => {
    const texts: readonly string[] = await page.evaluate(EVERYTHING_SHOWN)
    return texts.join("\n")
  }
  await page.getByRole("link", { name: /Title/ }).first().waitFor()
  const overview = await shown()
  await page.getByRole("link", { name: /Title/ }).first().click()
  await isLive(page)
  await page.getByRole("region", { name: "Permission requests" }).waitFor()
  for (const button of await page.getByRole("article").getByRole("button").all()) await button.click()
  const session = await shown()
  await scene.screenshot("hostile-text")
  for (const text of [overview, session]) {
    expect(text).toContain("red␇ ⟨U+202E⟩gpj.exe")
    expect(OBEYED.exec(text)?.[0]).toBeUndefined()
  }
  expect(session).toContain("later red")
})
