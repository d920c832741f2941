import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { messageId } from "@meridian/protocol"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { openStore } from "../../packages/engine/src/store/store.ts"
import { realWorld } from "../../packages/engine/src/world.ts"
import { gate } from "../engine-scene.ts"
import type { HttpScene } from "../http-scene.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

/** Markup in a title, in what a tool wrote and in what the model said. */
const HOSTILE = `<img src=x onerror="document.title='owned'">`
const SUMMARY = "Goal: fix the parser. The failing case is a quote at the end of a line."

const ASK_FOR_BASH = [
  { action: "*", resource: "*", effect: "allow" },
  { action: "bash", resource: "*", effect: "ask" },
] as const

const withSession =
  (prompt?: string) =>
  async ({ client, directory }: HttpScene): Promise<void> => {
    writeFileSync(join(directory, "parser.ts"), `// ${HOSTILE}\nexport const parse = () => {}\n`)
    await client.sessions.create({ id: "ses_1", location: { directory }, title: `Fix the parser ${HOSTILE}` })
    if (prompt === undefined) return
    await client.sessions.prompt({ sessionID: "ses_1", prompt: { text: prompt } })
    await client.sessions.wait({ sessionID: "ses_1" })
  }

const READ_AND_ANSWER = [
  {
    text: "I read the parser first.",
    tools: [{ name: "read", input: { path: "parser.ts" } }],
    usage: { input: 21_000, output: 200 },
  },
  { text: `It is empty. ${HOSTILE}`, usage: { input: 64_000, output: 300 } },
] as const

const row = (page: Page, label: RegExp | string) => page.getByRole("article", { name: label, exact: true })
const isLive = (page: Page) => page.locator(".stream.is-live").waitFor()

test("a person finds a session, reads its timeline and the receipt of a compaction, answers a question and gets an answer", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      ...READ_AND_ANSWER,
      { text: SUMMARY },
      {
        text: "I run the tests.",
        tools: [{ name: "bash", input: { command: "echo all green", description: "Run the tests" } }],
        usage: { input: 9_000, output: 100 },
      },
      { text: "All tests pass now.", usage: { input: 9_500, output: 80 } },
    ],
    permissions: ASK_FOR_BASH,
    prepare: withSession("Why does the parser fail?"),
  })
  const { page } = scene
  await page.getByRole("link", { name: /Fix the parser/ }).click()
  await isLive(page)

  const tool = row(page, "Tool read, success")
  expect(await tool.innerText()).toMatch(/read\s+parser\.ts\s+done\s+\d/)
  await tool.getByRole("button").click()
  await tool.getByText("export const parse").waitFor()
  await row(page, "Turn 2, ended").getByText("64.0k in").waitFor()
  await page.getByText("Context: 64.0k tokens of 200k (32 %), 0 compactions").waitFor()

  await page.getByRole("button", { name: "Compact" }).click()
  const compaction = row(page, "Compaction, ended")
  await compaction.getByRole("button").click()
  const dialog = page.getByRole("dialog", { name: "Receipt of the compaction" })
  await dialog.getByText("somebody asked for it").waitFor()
  expect(await dialog.getByRole("region", { name: "The model saw before" }).innerText()).toContain(
    "Why does the parser fail?",
  )
  expect(await dialog.getByRole("region", { name: "The model sees after" }).innerText()).toContain(SUMMARY)
  await scene.screenshot("receipt-light")
  await dialog.getByRole("button", { name: "Close" }).click()
  await dialog.waitFor({ state: "hidden" })

  await page.getByRole("textbox", { name: "Prompt" }).fill("Now run the tests")
  await page.getByRole("button", { name: "Send" }).click()
  const question = page.getByRole("region", { name: "Permission requests" })
  await question.getByText("echo all green").waitFor()
  await page.getByRole("link", { name: "1 question waits" }).waitFor()
  await scene.screenshot("question-light")
  await question.getByRole("button", { name: "Allow once" }).click()
  await row(page, "Answer").filter({ hasText: "All tests pass now." }).waitFor()
  await row(page, "Tool bash, success").waitFor()
  await question.waitFor({ state: "detached" })
  await page.getByText(/Context: 9.5k tokens of 200k \(5 %\), 1 compaction/).waitFor()
  await scene.screenshot("session-light")

  expect(await page.title()).toBe("Meridian")
  expect(await page.locator("img").count()).toBe(0)
  expect(new URL(page.url()).hash).toBe("#/session/ses_1")
  expect(scene.asked.filter((address) => !address.startsWith(scene.http.server.url))).toEqual([])
  expect(scene.complaints).toEqual([])
})

test("everything is reached with the keyboard alone", async () => {
  await using scene = await openPageScene(browser, {
    answers: [...READ_AND_ANSWER, { text: SUMMARY }, { text: "Answered from the keyboard." }],
    prepare: async (http) => {
      await withSession("Why does the parser fail?")(http)
      await http.client.sessions.compact({ sessionID: "ses_1" })
    },
  })
  const { page } = scene
  await page.getByRole("link", { name: /Fix the parser/ }).waitFor()
  await tabTo(page, /Fix the parser/)
  await page.keyboard.press("Enter")
  await isLive(page)

  await tabTo(page, /^Timeline$/)
  await page.keyboard.press("Home")
  await expect.poll(() => place(page)).toBe("1")
  await page.keyboard.press("ArrowDown")
  await expect.poll(() => place(page)).toBe("2")
  await page.keyboard.press("End")
  await expect.poll(() => place(page)).toBe(await last(page))
  await page.keyboard.press("ArrowUp")
  await expect.poll(() => focused(page)).toBe("Compaction, ended")
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: "Receipt of the compaction" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await expect.poll(() => focused(page)).toMatch(/^Compaction/)

  await tabTo(page, /^Prompt$/)
  await page.keyboard.type("Are you there?")
  await page.keyboard.press("Enter")
  await row(page, "Answer").filter({ hasText: "Answered from the keyboard." }).waitFor()
  expect(scene.complaints).toEqual([])
})

test("a prompt that waits can be taken back, and work can be interrupted", async () => {
  const held = gate()
  await using scene = await openPageScene(browser, {
    answers: [async () => (await held.pass(), { text: "late" })],
    prepare: withSession(),
    fragment: "&session=ses_1",
  })
  const { page } = scene
  await isLive(page)
  await page.getByRole("textbox", { name: "Prompt" }).fill("Work for long")
  await page.keyboard.press("Enter")
  await row(page, "Turn 1, running").waitFor()
  await page.getByRole("radio", { name: "Queue" }).check()
  await page.getByRole("textbox", { name: "Prompt" }).fill("And then this")
  await page.keyboard.press("Enter")
  const waiting = page.getByRole("list", { name: "Prompts that wait" })
  await waiting.getByText("And then this").waitFor()
  await scene.screenshot("queued-light")
  await waiting.getByRole("button", { name: "Take back" }).click()
  await waiting.waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Interrupt" }).click()
  held.open()
  await row(page, "Turn 1, interrupted").waitFor()
  await page.getByText("Interrupt requested").waitFor()
  expect(scene.complaints).toEqual([])
})

test("the page goes on where it was when the server comes back, and shows what the crash cut off", async () => {
  const held = gate()
  await using scene = await openPageScene(browser, {
    answers: [async () => (await held.pass(), { text: "never" }), { text: "Back again." }],
    prepare: withSession(),
    fragment: "&session=ses_1",
  })
  const { page, http } = scene
  await isLive(page)
  await page.getByRole("textbox", { name: "Prompt" }).fill("Start")
  await page.keyboard.press("Enter")
  await held.reached
  await http.restart({ port: http.server.port })
  held.open()
  await row(page, "Crash").waitFor()
  await row(page, "Turn 1, crashed").waitFor()
  await isLive(page)
  await page.getByRole("textbox", { name: "Prompt" }).fill("Go on")
  await page.keyboard.press("Enter")
  await row(page, "Answer").filter({ hasText: "Back again." }).waitFor()
  expect(await page.getByText("Session created in").count()).toBe(1)
  await scene.screenshot("crash-light")
})

test("ten thousand messages are a bounded number of rows, wherever one scrolls", async () => {
  await using scene = await openPageScene(browser, {
    prepare: async (http) => {
      await withSession()(http)
      await http.server.stop()
      writeMessages(join(http.stateRoot, "engine.sqlite"), 10_000)
      await http.restart()
    },
  })
  const { page } = scene
  await page.getByRole("link", { name: /Fix the parser/ }).click()
  await isLive(page)
  await page.getByText("answer 5000", { exact: true }).waitFor()
  const rows = () => page.locator("[data-row]").count()
  const firstRow = async () => Number(await page.locator("[data-row]").first().getAttribute("data-row"))
  expect(await rows()).toBeLessThanOrEqual(121)
  const feed = page.getByRole("feed", { name: "Timeline" })
  expect(await page.locator("[data-row]").last().getAttribute("aria-setsize")).toBe("15001")
  for (const share of [0.75, 0.5, 0.25, 0.01]) {
    await feed.evaluate((element, at) => {
      element.scrollTop = element.scrollHeight * at
    }, share)
    await expect.poll(async () => Math.abs((await firstRow()) / 15_001 - share)).toBeLessThan(0.1)
    expect(await rows()).toBeLessThanOrEqual(121)
  }
  await feed.focus()
  await page.keyboard.press("Home")
  await page.getByText("question 1", { exact: true }).waitFor()
  await page.keyboard.press("End")
  await page.getByText("answer 5000", { exact: true }).waitFor()
  await scene.screenshot("ten-thousand-light")
  expect(scene.complaints).toEqual([])
})

test("spaces show their chats and the tree of their runs with what each branch cost", async () => {
  await using scene = await openPageScene(browser, { prepare: writeSpace })
  const { page } = scene
  await page.getByRole("link", { name: "Spaces" }).click()
  await page.getByRole("link", { name: /feature-auth/ }).click()
  const tree = page.getByRole("treegrid", { name: "Run tree" })
  await tree.getByRole("link", { name: "r3" }).waitFor()
  const lines = await tree.getByRole("row").allInnerTexts()
  expect(lines.slice(1).map((line) => line.replaceAll(/\s+/g, " ").trim())).toEqual([
    "r1 planner succeeded opus (claude) 1 min 30 s $0.5000 $0.8750",
    "r2 succeeded gpt (codex) 12 s $0.2500 $0.3750",
    "r3 failed gpt (codex) 4.0 s $0.1250",
  ])
  expect(await tree.getByRole("row").nth(3).getAttribute("aria-level")).toBe("3")
  await page.getByText("claude", { exact: true }).waitFor()
  await scene.screenshot("space-light")
  await tree.getByRole("link", { name: "r1" }).click()
  await page.getByText("The plan is done.").waitFor()
  expect(scene.complaints).toEqual([])
})

test.each(["light", "dark"] as const)(
  "a phone shows everything without scrolling sideways: %s",
  async (colorScheme) => {
    await using scene = await openPageScene(browser, {
      answers: [...READ_AND_ANSWER, { text: SUMMARY }],
      prepare: async (http) => {
        await withSession("Why does the parser fail?")(http)
        await http.client.sessions.compact({ sessionID: "ses_1" })
        await writeSpace(http)
      },
      context: { viewport: { width: 390, height: 844 }, colorScheme, hasTouch: true, isMobile: true },
    })
    const { page } = scene
    const isTooWide = () =>
      page.evaluate<boolean>("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    await page.getByRole("link", { name: /Fix the parser/ }).waitFor()
    expect(await isTooWide()).toBe(false)
    await scene.screenshot(`phone-list-${colorScheme}`)
    await page.getByRole("link", { name: /Fix the parser/ }).click()
    await isLive(page)
    await row(page, "Compaction, ended").waitFor()
    expect(await isTooWide()).toBe(false)
    await scene.screenshot(`phone-session-${colorScheme}`)
    await row(page, "Compaction, ended").getByRole("button").click()
    await page.getByRole("dialog").waitFor()
    expect(await isTooWide()).toBe(false)
    await scene.screenshot(`phone-receipt-${colorScheme}`)
    await page.getByRole("button", { name: "Close" }).click()
    await page.getByRole("link", { name: "Spaces" }).click()
    await page.getByRole("link", { name: /feature-auth/ }).click()
    await page.getByRole("treegrid").waitFor()
    expect(await isTooWide()).toBe(false)
    await scene.screenshot(`phone-space-${colorScheme}`)
  },
)

test("everything that can be used or read has a name, in the dark as well", async () => {
  await using scene = await openPageScene(browser, {
    answers: [...READ_AND_ANSWER, { text: SUMMARY }],
    prepare: async (http) => {
      await withSession("Why does the parser fail?")(http)
      await http.client.sessions.compact({ sessionID: "ses_1" })
    },
    context: { colorScheme: "dark" },
    fragment: "&session=ses_1",
  })
  const { page } = scene
  await isLive(page)
  await row(page, "Compaction, ended").waitFor()
  await scene.screenshot("session-dark")
  expect(await page.locator("body").ariaSnapshot()).toMatch(/navigation "Sections"/)
  expect(await unnamed(page)).toEqual([])
  await row(page, "Compaction, ended").getByRole("button").click()
  await page.getByRole("dialog", { name: "Receipt of the compaction" }).waitFor()
  await scene.screenshot("receipt-dark")
  expect(await unnamed(page)).toEqual([])
})

test("without a token the page asks for one, and a wrong one is refused in words", async () => {
  await using scene = await openPageScene(browser)
  const { page, http } = scene
  await page.evaluate(() => sessionStorage.clear())
  await page.goto(`${http.server.url}/?again`)
  await page.getByText("paste its token").waitFor()
  await scene.screenshot("sign-in-light")
  await page.getByLabel("Token").fill("wrong")
  await page.getByRole("button", { name: "Open" }).click()
  await page.getByRole("alert").waitFor()
  await page.getByLabel("Token").fill(http.server.token)
  await page.getByRole("button", { name: "Open" }).click()
  await page.getByText("No sessions yet.").waitFor()
})

/** Presses Tab until what has the focus has this name. */
const tabTo = async (page: Page, name: RegExp): Promise<void> => {
  for (let times = 0; times < 60; times += 1) {
    await page.keyboard.press("Tab")
    if (name.test(await focused(page))) return
  }
  throw new Error(`Tab never reaches ${name}`)
}

// As text: this program knows nothing of documents.
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? ""',
  )

/** Of the row that has the focus. */
const place = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>('document.activeElement?.getAttribute("aria-posinset")')
const last = (page: Page) => page.locator("[data-row]").last().getAttribute("aria-setsize")

/** Roles that need a name and have none, from the browser's own accessibility tree. */
const unnamed = async (page: Page): Promise<readonly string[]> => {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send("Accessibility.getFullAXTree")
  const needing = new Set([
    "button",
    "link",
    "textbox",
    "radio",
    "dialog",
    "feed",
    "article",
    "navigation",
    "region",
  ])
  const roles = nodes.flatMap((node) => {
    const role = String(node.role?.value)
    return node.ignored || !needing.has(role) || String(node.name?.value ?? "") !== "" ? [] : [role]
  })
  await session.detach()
  return roles
}

const writeMessages = (file: string, count: number): void => {
  const store = openStore({ file, world: realWorld(), leaseMs: 8_000 })
  store.log.write({ sessionID: "ses_1", durability: "FULL" }, ({ append }) => {
    for (let number = 1; number <= count / 2; number += 1)
      append([
        {
          type: "session.next.prompted.1",
          data: { messageID: messageId(`msg_u${number}`), prompt: { text: `question ${number}` } },
        },
        {
          type: "session.next.step.started.1",
          data: { assistantMessageID: messageId(`msg_a${number}`), agent: "build", model: "fake/one" },
        },
        {
          type: "session.next.text.ended.1",
          data: { assistantMessageID: messageId(`msg_a${number}`), text: `answer ${number}` },
        },
        {
          type: "session.next.step.ended.2",
          data: {
            assistantMessageID: messageId(`msg_a${number}`),
            finish: "stop",
            usage: { input: 10 * number, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
            cost: 0,
          },
        },
      ])
  })
  store.close()
}

/** As `meridian` leaves it on disk. */
const writeSpace = async ({ stateRoot }: HttpScene): Promise<void> => {
  const space = join(stateRoot, ".spaces", "s1")
  mkdirSync(join(space, "runs", "r1"), { recursive: true })
  const lines = (rows: readonly object[]): string => rows.map((line) => `${JSON.stringify(line)}\n`).join("")
  const started_at = "2026-11-15T10:00:00.000Z"
  writeFileSync(
    join(space, "space.json"),
    JSON.stringify({
      schema_version: 1,
      id: "s1",
      name: "feature-auth",
      status: "active",
      started_at,
      finished_at: null,
    }),
  )
  writeFileSync(
    join(space, "sessions.jsonl"),
    lines([
      {
        v: 1,
        event: "start",
        chat_id: "c1",
        harness: "claude",
        harness_session_id: "",
        model: "opus",
        started_at,
      },
      { v: 1, event: "stop", chat_id: "c1", stopped_at: started_at },
    ]),
  )
  const run = (id: string, fields: object, end: object): readonly object[] => [
    {
      v: 1,
      event: "start",
      id,
      status: "running",
      depth: 1,
      skills: [],
      skill_paths: [],
      started_at,
      ...fields,
    },
    { v: 1, event: "finalize", id, exit_code: 0, finished_at: started_at, by: "worker", ...end },
  ]
  writeFileSync(
    join(space, "runs.jsonl"),
    lines([
      ...run(
        "r1",
        { model: "opus", harness: "claude", agent: "planner" },
        { status: "succeeded", duration_secs: 90, total_cost_usd: 0.5 },
      ),
      ...run(
        "r2",
        { model: "gpt", harness: "codex", parent_run_id: "r1" },
        { status: "succeeded", duration_secs: 12, total_cost_usd: 0.25 },
      ),
      ...run(
        "r3",
        { model: "gpt", harness: "codex", parent_run_id: "r2" },
        { status: "failed", error: "timeout", duration_secs: 4, total_cost_usd: 0.125 },
      ),
    ]),
  )
  writeFileSync(join(space, "runs", "r1", "report.md"), "The plan is done.\n")
  await Promise.resolve()
}
