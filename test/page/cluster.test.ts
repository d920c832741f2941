/** Two servers on one database. When the first is killed, the page of the second shows its session coming over. */
import { createClient } from "@meridian/server/client"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { startServer } from "../e2e/server-process.ts"
import { verifies } from "../verifies.ts"
import { openBrowser } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

verifies("cluster.page", async () => {
  const scene = await directScene({
    script: [{ text: "from the first" }, { delayMs: 500, text: "from the second" }],
  })
  const env = {
    ...scene.env,
    MERIDIAN_DATABASE: `${await sharedPostgres()}?schema=page_of_nodes`,
    MERIDIAN_HTTP_TOKEN: "the-token-of-this-cluster",
  }
  const first = await startServer(scene.project, ["--port", "0"], env)
  const second = await startServer(scene.project, ["--port", "0"], env)
  const sessionID = "ses_one"
  const ask = createClient({ url: first.url, token: first.token })
  await ask.sessions.create({ id: sessionID, location: { directory: scene.project }, title: "A talk" })
  await ask.sessions.prompt({ sessionID, prompt: { text: "hello" } })
  await ask.sessions.wait({ sessionID })
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(`${second.url}/#token=${second.token}`)
  await page
    .getByRole("link", { name: /A talk/ })
    .first()
    .click()
  const facts = page.locator(".session-facts")
  await facts.getByText(new RegExp(` ${first.pid}$`)).waitFor()
  expect(await facts.getByText(/moved/).count()).toBe(0)
  process.kill(first.pid, "SIGKILL")
  const there = createClient({ url: second.url, token: second.token })
  await there.sessions.prompt({ sessionID, prompt: { text: "again" } })
  await page.getByText("from the second").first().waitFor()
  await facts.getByText(new RegExp(` ${second.pid} · moved 1 time$`)).click()
  const nodes = await page
    .getByRole("list", { name: "Nodes that had it" })
    .getByRole("listitem")
    .allTextContents()
  const { items } = await there.sessions.stays({ sessionID })
  expect(items.map(({ node }) => node.split(" ").at(-1))).toEqual([String(first.pid), String(second.pid)])
  expect(nodes.map((text) => text.replace(/^.* (\d+), after event \d+$/, "$1"))).toEqual([
    String(first.pid),
    String(second.pid),
  ])
  await context.close()
  await second.end("SIGKILL")
})
