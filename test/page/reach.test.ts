import { join } from "node:path"

import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { isLive, READ_AND_ANSWER, row, SUMMARY, withSession, writeMessages, writeSpace } from "./page-data.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

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
  expect(await page.evaluate<string>("document.activeElement.id")).toBe("main")

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

test("a session opens at its end, whatever the heights of its rows turn out to be", async () => {
  await using scene = await openPageScene(browser, {
    answers: Array.from({ length: 24 }, (_, turn) => ({
      text: `[step ${turn}] ${"word ".repeat(turn % 5 === 0 ? 120 : 3)}`,
      tools: [{ name: "read", input: { path: "a.txt" } }],
    })),
    prepare: async ({ client, directory }) => {
      await client.sessions.create({ id: "ses_1", location: { directory } })
      await client.sessions.prompt({ sessionID: "ses_1", prompt: { text: "go" } })
      await client.sessions.wait({ sessionID: "ses_1" })
    },
    fragment: "&session=ses_1",
  })
  const { page } = scene
  await page.getByText("live", { exact: true }).waitFor()
  const feed = page.getByRole("feed")
  const FEED = "document.querySelector('[role=feed]')"
  const DISTANCE = `(${FEED}.scrollHeight - ${FEED}.clientHeight - ${FEED}.scrollTop)`
  const COUNT = `Number(${FEED}.querySelector("article").getAttribute("aria-setsize"))`
  await page.getByRole("article", { name: "Answer" }).last().waitFor()
  await until(page, `${DISTANCE} <= 1 && ${FEED}.scrollTop > 0`)
  // A user who scrolls up stays there, though the session goes on.
  await feed.hover()
  await page.mouse.wheel(0, -400)
  await until(page, `${DISTANCE} > 300`)
  const count = Number(await page.evaluate(COUNT))
  await scene.http.client.sessions.prompt({ sessionID: "ses_1", prompt: { text: "one more" } })
  await until(page, `${COUNT} > ${count} + 2`)
  expect(await page.evaluate(`${DISTANCE} > 300`)).toBe(true)
})

/** The page's own policy forbids waiting inside it for a condition given as text. */
const until = async (page: Page, condition: string): Promise<void> => {
  while ((await page.evaluate(condition)) !== true);
}

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
      context: { viewport: { width: 360, height: 844 }, colorScheme, hasTouch: true, isMobile: true },
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
    // The tree and its costs are visible without scrolling sideways.
    expect(
      await page.evaluate<boolean>(
        "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.table'))",
      ),
    ).toBe(false)
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

/** Presses Tab until the focused element has this name. */
const tabTo = async (page: Page, name: RegExp): Promise<void> => {
  for (let times = 0; times < 60; times += 1) {
    await page.keyboard.press("Tab")
    if (name.test(await focused(page))) return
  }
  throw new Error(`Tab never reaches ${name}`)
}

// As text: this program has no DOM types.
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? ""',
  )

/** The position of the focused row. */
const place = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>('document.activeElement?.getAttribute("aria-posinset")')
const last = (page: Page) => page.locator("[data-row]").last().getAttribute("aria-setsize")

/** Elements whose role needs a name and that have none, from the browser's own accessibility tree. */
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
