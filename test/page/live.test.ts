import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { ALLOW_ALL, gate, scriptedModel } from "../engine-scene.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

test("the list shows what others do without being loaded again, whichever process did it, and asks for nothing meanwhile", async () => {
  const working = gate()
  await using scene = await openPageScene(browser, {
    answers: [
      async () => {
        await working.pass()
        return { text: "done" }
      },
    ],
  })
  const { page, http } = scene
  await page.getByText("No sessions yet.").waitFor()
  const { sessions } = http.client
  await sessions.create({ id: "ses_1", title: "First", location: { directory: http.directory } })
  const first = page.getByRole("link", { name: /First/ })
  await first.getByText("idle").waitFor()
  await sessions.prompt({ sessionID: "ses_1", prompt: { text: "go" } })
  await working.reached
  await first.getByText("running").waitFor()
  working.open()
  await first.getByText("idle").waitFor()
  const other = await openEngine({
    database: join(http.stateRoot, "engine.sqlite"),
    models: [scriptedModel([])],
    permissions: ALLOW_ALL,
    recover: false,
  })
  await other.sessions.create({ id: "ses_2", title: "Second", location: { directory: http.directory } })
  await page.getByRole("link", { name: /Second/ }).waitFor()
  await other.close()
  await scene.screenshot("overview-light")
  const before = scene.asked.filter((address) => address.endsWith("/api/session?limit=100&order=desc")).length
  expect(before).toBeLessThan(8)
  expect(scene.complaints).toEqual([])
})

test("a session is made in the page and gets its first prompt", async () => {
  await using scene = await openPageScene(browser, { answers: [{ text: "At your service." }] })
  const { page, http } = scene
  await page.getByRole("button", { name: "New session" }).click()
  await page.getByLabel("Directory").fill(join(http.base, "nowhere"))
  await page.getByRole("button", { name: "Create" }).click()
  await page.getByRole("alert").getByText("does not exist").waitFor()
  await page.getByLabel("Directory").fill(http.directory)
  await page.getByLabel("Title").fill("Made here")
  await page.getByRole("button", { name: "Create" }).click()
  await page.getByRole("heading", { name: "Made here" }).waitFor()
  await page.getByText("Nothing happened yet.").waitFor({ state: "detached" })
  await page.getByLabel("Prompt", { exact: true }).last().fill("hello")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("At your service.").waitFor()
  await page.getByLabel("Agent").selectOption("plan")
  await page.getByText("Agent is now plan").waitFor()
  await scene.screenshot("made-light")
})

test("hostile text is shown and not obeyed: markup, turned writing, colours of terminals, words without end, five megabytes", async () => {
  const evil = `<script>document.title='owned'</script> \u202etxt.exe \u001b[31mred\u001b[0m ${"w".repeat(3_000)}`
  await using scene = await openPageScene(browser, {
    answers: [{ text: `${evil} ${"x".repeat(5_000_000)}` }],
    permissions: [],
    prepare: async ({ client, directory }) => {
      await client.sessions.create({
        id: "ses_1",
        title: `Evil ${evil.slice(0, 90)}`,
        location: { directory },
      })
      await client.sessions.prompt({ sessionID: "ses_1", prompt: { text: evil } })
      await client.sessions.wait({ sessionID: "ses_1" })
    },
    fragment: "&session=ses_1",
  })
  const { page } = scene
  await page.getByRole("article", { name: "Answer" }).waitFor()
  const shown = await page.getByRole("feed").innerText()
  expect(shown).toContain("<script>document.title='owned'</script> ⟨U+202E⟩txt.exe red www")
  expect(await page.title()).toContain("Evil <script>")
  await page
    .getByRole("article", { name: "Answer" })
    .getByRole("button", { name: /Show all/ })
    .click()
  await page.getByText("more characters are only in the log").waitFor()
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
  await scene.screenshot("hostile-light")
  expect(scene.complaints).toEqual([])
})

test("many tabs on one server all load: those nobody looks at keep no connection", async () => {
  await using scene = await openPageScene(browser, {
    prepare: async ({ client, directory }) => {
      await client.sessions.create({ id: "ses_1", title: "Shared", location: { directory } })
    },
    fragment: "&session=ses_1",
  })
  const { page, http } = scene
  await page.getByText("live", { exact: true }).waitFor()
  // Headless browsers never hide a tab on their own.
  const hide = (isHidden: boolean) =>
    page.evaluate(`{
      Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} })
      document.dispatchEvent(new Event("visibilitychange"))
    }`)
  const closed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/event"))
  await hide(true)
  await closed
  await http.client.sessions.prompt({ sessionID: "ses_1", prompt: { text: "meanwhile" } })
  await http.client.sessions.wait({ sessionID: "ses_1" })
  await hide(false)
  await page.getByText("meanwhile").waitFor()
})

test("a page that outlives its server says that Meridian was updated, and goes on after a reload", async () => {
  await using scene = await openPageScene(browser)
  const { page, http } = scene
  await page.getByText("No sessions yet.").waitFor()
  const { port } = http.server
  await http.restart({ port })
  await http.client.sessions.create({ title: "Second", location: { directory: http.directory } })
  await page.getByRole("link", { name: /Second/ }).waitFor()
  expect(await page.getByText("Meridian was updated").count()).toBe(0)
  await http.restart({ port, version: "0.0.1-test" })
  await page.getByText("Meridian was updated while this page was open.").waitFor()
  await scene.screenshot("updated")
  await page.getByRole("button", { name: "Reload" }).click()
  await page.getByRole("link", { name: /Second/ }).waitFor()
  expect(await page.getByText("Meridian was updated").count()).toBe(0)
})
