/** The page as a place to work, without a mouse: reading answers and changes, finding things, answering. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { ASK_FOR_BASH, isLive, row, withSession, writeSpace } from "./page-data.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"
import { seriousProblems } from "./serious-problems.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const ANSWER = [
  "## What was wrong",
  "",
  "The parser **forgot** the last `quote`:",
  "",
  "```ts",
  "const parse = (text: string) => text.split('\\n')",
  "```",
  "",
  "1. first",
  "2. second",
  "   - [x] nested",
  "",
  "| file | lines |",
  "| --- | ---: |",
  "| parser.ts | 12 |",
  "",
  "See [the guide](https://example.org/guide) or [this](javascript:alert(1)).",
].join("\n")

const PLAN = [
  { content: "Read the parser", status: "completed" },
  { content: "Fix the quote", status: "in_progress" },
  { content: "Run the tests", status: "pending" },
] as const

test("an answer is set as Markdown, an edit is shown as a diff, the plan stands beside the timeline", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      { text: "I plan.", tools: [{ name: "todo", input: { items: PLAN } }] },
      {
        text: "I change it.",
        tools: [{ name: "write", input: { path: "notes.md", content: "one\ntwo\n" } }],
      },
      { text: ANSWER, usage: { input: 30_000, output: 300 } },
    ],
    prepare: withSession("Fix the parser"),
  })
  const { page } = scene
  await page
    .getByRole("link", { name: /Fix the parser/ })
    .first()
    .click()
  await isLive(page)
  const answer = page
    .getByRole("article")
    .filter({ has: page.getByRole("heading", { name: "What was wrong" }) })
  expect(await answer.locator("pre").innerText()).toBe("const parse = (text: string) => text.split('\\n')")
  expect(
    await page.evaluate("getComputedStyle(document.querySelector('.markdown pre')).fontFamily"),
  ).toContain("monospace")
  expect(
    await page.evaluate("[...document.querySelectorAll('.markdown a')].map((link) => link.href)"),
  ).toEqual(["https://example.org/guide"])
  expect(await answer.getByRole("cell", { name: "12" }).count()).toBe(1)
  const change = row(page, "Tool write, done").getByRole("group", { name: "Change" })
  expect(await change.innerText()).toBe("notes.md\n+one\n+two")
  const plan = page.getByRole("complementary", { name: "Plan" })
  expect(await plan.innerText()).toContain("1 of 3")
  expect(await seriousProblems(page)).toEqual([])
  await scene.screenshot("work-light")
  await page.getByRole("button", { name: /Theme/ }).click()
  await page.getByRole("button", { name: /Theme/ }).click()
  expect(await seriousProblems(page)).toEqual([])
  await scene.screenshot("work-dark")
  expect(scene.complaints).toEqual([])
})

test("questions of all sessions stand in one place, are counted in the title, and are answered there", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      { text: "one", tools: [{ name: "bash", input: { command: "echo one", description: "One" } }] },
      { text: "two", tools: [{ name: "bash", input: { command: "echo two", description: "Two" } }] },
      { text: "done" },
      { text: "done" },
    ],
    permissions: ASK_FOR_BASH,
    prepare: async ({ client, directory }) => {
      for (const id of ["ses_1", "ses_2"]) {
        await client.sessions.create({ id, location: { directory }, title: `Session ${id}` })
        await client.sessions.prompt({ sessionID: id, prompt: { text: "go" } })
        while ((await client.sessions.permissions({ sessionID: id })).items.length === 0);
      }
    },
  })
  const { page } = scene
  await page.getByRole("link", { name: "2 questions wait" }).click()
  await expect.poll(() => page.title()).toMatch(/^\(2\)/)
  const questions = page.getByRole("region", { name: "Open questions" })
  await expect
    .poll(() => questions.getByRole("link").allInnerTexts())
    .toEqual(["Session ses_1", "Session ses_2"])
  expect(await seriousProblems(page)).toEqual([])
  await scene.screenshot("questions-light")
  await questions.getByRole("button", { name: "Allow once" }).first().click()
  await expect.poll(() => page.title()).toMatch(/^\(1\)/)
  await questions.getByRole("button", { name: "Reject" }).click()
  await page.getByText("Nothing. You will see it here").waitFor()
})

test("what is allowed for good is listed at once, also where one starts, and can be revoked", async () => {
  const bash = (command: string) => ({
    text: "now",
    tools: [{ name: "bash", input: { command, description: "It" } }],
  })
  await using scene = await openPageScene(browser, {
    answers: [bash("echo one"), { text: "done" }],
    permissions: ASK_FOR_BASH,
    prepare: async ({ client, directory }) => {
      await client.sessions.create({ id: "ses_1", location: { directory }, title: "Session" })
      await client.sessions.prompt({ sessionID: "ses_1", prompt: { text: "go" } })
      while ((await client.sessions.permissions({ sessionID: "ses_1" })).items.length === 0);
    },
  })
  const { page } = scene
  await page.getByRole("link", { name: "1 question waits" }).click()
  await page.getByRole("button", { name: "Always allow" }).click()
  const saved = page.getByRole("region", { name: "Allowed for good" })
  await saved.getByRole("button", { name: "Revoke bash echo one" }).waitFor()
  expect(await seriousProblems(page)).toEqual([])
  await scene.screenshot("approvals-light")
  await page.getByRole("link", { name: "Sessions" }).click()
  await saved.getByRole("button", { name: "Revoke bash echo one" }).click()
  await saved.waitFor({ state: "detached" })
  expect(scene.complaints).toEqual([])
})

test("everything can be reached by keys, and the help says which", async () => {
  await using scene = await openPageScene(browser, { answers: [], prepare: withSession() })
  const { page } = scene
  await page.getByRole("link", { name: /Fix the parser/ }).waitFor()
  await page.keyboard.press("?")
  const help = page.getByRole("dialog", { name: "Keys" })
  await help.getByText("search the sessions").waitFor()
  await scene.screenshot("keys-light")
  await page.keyboard.press("Escape")
  await help.waitFor({ state: "hidden" })
  await page.keyboard.press("/")
  await page.keyboard.type("zebra")
  await page.getByText("No listed session matches.").waitFor()
  await page.keyboard.press("Control+A")
  await page.keyboard.type("parser")
  await page.keyboard.press("Escape")
  await page
    .getByRole("link", { name: /Fix the parser/ })
    .first()
    .waitFor()
  await page.keyboard.press("n")
  expect(await page.getByLabel("Directory", { exact: true }).inputValue()).toBe(scene.http.directory)
  await page.keyboard.press("w")
  await page.getByText("Choose a space.").waitFor()
  await page.keyboard.press("q")
  await page.getByRole("heading", { name: "Waits for your answer" }).waitFor()
  await page.keyboard.press("s")
  await page
    .getByRole("link", { name: /Fix the parser/ })
    .first()
    .focus()
  await page.keyboard.press("Enter")
  await isLive(page)
  await page.keyboard.press("p")
  await page.keyboard.type("typed ? / n")
  expect(await page.getByRole("textbox", { name: "Prompt" }).inputValue()).toBe("typed ? / n")
})

test("on first use the directory is chosen from the server's project on", async () => {
  await using scene = await openPageScene(browser, {
    prepare: async ({ directory }) => {
      mkdirSync(join(directory, "packages/core"), { recursive: true })
      writeFileSync(join(directory, "a.txt"), "")
    },
  })
  const { page } = scene
  await page.getByRole("button", { name: "New session" }).click()
  const field = page.getByLabel("Directory", { exact: true })
  await page.getByRole("button", { name: "Choose a folder" }).click()
  await page.getByRole("button", { name: "packages" }).click()
  await page.getByRole("button", { name: "core" }).click()
  await page.getByText(join(scene.http.directory, "packages/core"), { exact: true }).waitFor()
  expect(await field.inputValue()).toBe(join(scene.http.directory, "packages/core"))
  expect(await seriousProblems(page)).toEqual([])
  await scene.screenshot("picker-light")
  await page.getByRole("button", { name: "Create" }).click()
  await page.getByRole("heading", { name: /^Untitled/ }).waitFor()
})

test("a directory that was typed is not replaced by a listing that comes late", async () => {
  await using scene = await openPageScene(browser)
  const { page } = scene
  const answers: (() => Promise<void>)[] = []
  await page.route("**/api/directory*", (route) => void answers.push(() => route.continue()))
  const listed = page.waitForResponse((response) => response.url().includes("/api/directory"))
  await page.getByRole("button", { name: "New session" }).click()
  const field = page.getByLabel("Directory", { exact: true })
  await field.fill("/typed/by/hand")
  await expect.poll(() => answers.length).toBe(1)
  await answers[0]?.()
  await (await listed).finished()
  await page.getByRole("button", { name: "Choose a folder" }).click()
  await expect.poll(() => answers.length).toBe(2)
  await answers[1]?.()
  await page.getByRole("alert").getByText("/typed/by/hand").waitFor()
  expect(await field.inputValue()).toBe("/typed/by/hand")
})

test("the plot is not there while it says nothing, and folds", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      { text: "a", tools: [{ name: "glob", input: { pattern: "*" } }], usage: { input: 100, output: 5 } },
      { text: "b", usage: { input: 200, output: 5 } },
      { text: "c", usage: { input: 90_000, output: 5 } },
    ],
    prepare: withSession("one"),
  })
  const { page, http } = scene
  await page
    .getByRole("link", { name: /Fix the parser/ })
    .first()
    .click()
  await isLive(page)
  await row(page, "Turn 2, ended").waitFor()
  expect(await page.getByRole("figure").filter({ hasText: "Context:" }).count()).toBe(0)
  await http.client.sessions.prompt({ sessionID: "ses_1", prompt: { text: "two" } })
  const plot = page.getByRole("figure").filter({ hasText: "Context: 90.0k tokens of 200k (45 %)" })
  await plot.getByRole("button", { name: "Fold the plot" }).click()
  expect(await plot.locator("canvas").count()).toBe(0)
  await page.reload()
  await page.getByRole("button", { name: "Show the plot" }).click()
  await page.locator("canvas").waitFor()
})

test("on a phone the plot is folded at first, and words of a table stay whole", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      { text: "a", tools: [{ name: "glob", input: { pattern: "*" } }], usage: { input: 80_000, output: 5 } },
      {
        text: `| file | lines | why |\n| --- | --- | --- |\n| a.ts | 12 | ${"words ".repeat(20)} |`,
        usage: { input: 90_000, output: 5 },
      },
    ],
    prepare: withSession("one"),
    context: { viewport: { width: 375, height: 740 } },
  })
  const { page } = scene
  await page
    .getByRole("link", { name: /Fix the parser/ })
    .first()
    .click()
  await isLive(page)
  await page.getByRole("button", { name: "Show the plot" }).waitFor()
  expect(await page.locator("canvas").count()).toBe(0)
  const head = await page.getByRole("columnheader", { name: "lines" }).evaluate((cell) => {
    const range = cell.ownerDocument.createRange()
    range.selectNodeContents(cell)
    return range.getClientRects().length
  })
  expect(head).toBe(1)
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375)
  await page.getByRole("button", { name: "Show the plot" }).click()
  await page.locator("canvas").waitFor()
})

test("spaces, runs and sign-in have no serious problem either, and the page can be installed", async () => {
  await using scene = await openPageScene(browser, { prepare: writeSpace })
  const { page, http } = scene
  const manifest = await (await http.ask("/manifest.webmanifest")).text()
  expect(JSON.parse(manifest)).toMatchObject({ name: "Meridian", display: "standalone" })
  for (const [, icon = ""] of manifest.matchAll(/"src": "\.(\/icon[^"]*)"/g))
    expect([icon, (await http.ask(icon)).status]).toEqual([icon, 200])
  await page.getByRole("link", { name: "Spaces" }).click()
  await page.getByRole("link", { name: /s1/ }).first().click()
  await page.getByRole("treegrid").waitFor()
  expect(await seriousProblems(page)).toEqual([])
  await page.getByRole("link", { name: "r1" }).first().click()
  await page.getByRole("heading", { name: "Run r1" }).waitFor()
  expect(await seriousProblems(page)).toEqual([])
  await page.goto(http.server.url)
  await page.evaluate("sessionStorage.clear()")
  await page.reload()
  await page.getByRole("button", { name: "Open" }).waitFor()
  expect(await seriousProblems(page)).toEqual([])
})

/** Replaces the browser's own notifications, and lets the test decide whether the tab is in view. */
const WATCHED = `
  window.told = []
  window.isHidden = false
  Object.defineProperty(document, "hidden", { get: () => window.isHidden })
  window.Notification = class extends EventTarget {
    static permission = "default"
    static requestPermission() { this.permission = "granted"; return Promise.resolve("granted") }
    constructor(title, { body }) { super(); window.told.push(title + " | " + body) }
  }
`

test("a question and the end of work are told outside the page while nobody looks at it, if somebody asked for that", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      { text: "asking", tools: [{ name: "bash", input: { command: "echo hello", description: "Say it" } }] },
      { text: "done" },
    ],
    permissions: ASK_FOR_BASH,
    prepare: withSession(),
  })
  const { page, http } = scene
  await page.addInitScript(WATCHED)
  await page.reload()
  await page.getByRole("button", { name: "Notify me" }).click()
  await page.getByRole("button", { name: "Notifies" }).waitFor()
  await page
    .getByRole("link", { name: /Fix the parser/ })
    .first()
    .waitFor()
  await page.evaluate("isHidden = true; document.dispatchEvent(new Event('visibilitychange'))")
  await http.client.sessions.prompt({ sessionID: "ses_1", prompt: { text: "go" } })
  const told = () => page.evaluate("told")
  await expect.poll(told, { timeout: 40_000 }).toEqual(["Permission to bash? | echo hello"])
  const [request] = (await http.client.permissions.list()).items
  await http.client.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
  await expect
    .poll(told, { timeout: 40_000 })
    .toEqual(["Permission to bash? | echo hello", expect.stringMatching(/^Fix the parser.* \| has settled$/)])
})
