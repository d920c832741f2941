import { appendFileSync } from "node:fs"
import { join } from "node:path"

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { writeSpace } from "./page-data.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

test("more sessions than one page holds are listed on request", async () => {
  await using scene = await openPageScene(browser, {
    prepare: async ({ client, directory }) => {
      for (let number = 1; number <= 101; number += 1)
        await client.sessions.create({ location: { directory }, title: `Session ${number}` })
    },
  })
  const { page } = scene
  await page.getByRole("link", { name: /^Session 101 / }).waitFor()
  expect(await page.getByRole("link", { name: /^Session/ }).count()).toBe(1 + 100)
  await page.getByRole("button", { name: "Show older sessions" }).click()
  await page.getByRole("link", { name: /^Session 1 / }).waitFor()
  await page.getByRole("button", { name: "Show older sessions" }).waitFor({ state: "detached" })
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

test("a chat in a host shows what its compactions lost and what was put back", async () => {
  await using scene = await openPageScene(browser, {
    hostCompactions: () => [
      {
        number: 1,
        summary: "Nothing worth keeping.",
        kept: ["stage: spec-execute"],
        putBack: ["task: Fix the login.", "constraint: Never touch billing."],
        lost: ["file: src/<b>a</b>.ts"],
        invented: ["drop the database"],
        contradicted: true,
        injectedTokens: 412,
      },
    ],
    prepare: async (http) => {
      await writeSpace(http)
      appendFileSync(
        join(http.stateRoot, ".spaces/s1/sessions.jsonl"),
        `${JSON.stringify({ v: 1, event: "start", chat_id: "c2", harness: "codex", harness_session_id: "0f0e", model: "gpt", started_at: "2026-11-15T10:00:00.000Z" })}\n`,
      )
    },
  })
  const { page } = scene
  await page.getByRole("link", { name: "Spaces" }).click()
  await page.getByRole("link", { name: /feature-auth/ }).click()
  // The chat without a session has nothing to show.
  await page.getByText("Compactions", { exact: true }).click()
  await page.getByText("3 of 4 facts are there").waitFor()
  await page.getByText("Lost: 1").click()
  await page.getByText("file: src/<b>a</b>.ts").waitFor()
  await page.getByText("Invented by the summary, and contradicted: 1").waitFor()
  await scene.screenshot("compactions-light")
  expect(scene.complaints).toEqual([])
})

test("a chat of the engine's own harness leads to its session, and what other programs write appears by itself", async () => {
  await using scene = await openPageScene(browser, {
    prepare: async (http) => {
      await writeSpace(http)
      await http.client.sessions.create({
        id: "ses_1",
        title: "Worked in",
        location: { directory: http.directory },
      })
    },
    fragment: "",
  })
  const { page, http } = scene
  await page.getByRole("link", { name: "Spaces" }).click()
  await page.getByRole("link", { name: /feature-auth/ }).click()
  await page.getByRole("link", { name: "r3" }).waitFor()
  const started_at = "2026-11-15T11:00:00.000Z"
  const space = join(http.stateRoot, ".spaces/s1")
  appendFileSync(
    join(space, "sessions.jsonl"),
    `${JSON.stringify({ v: 1, event: "start", chat_id: "c2", harness: "direct", harness_session_id: "ses_1", model: "fake/one", started_at })}\n`,
  )
  await page.getByRole("link", { name: "session", exact: true }).click()
  await page.getByRole("heading", { name: "Worked in" }).waitFor()
  expect(scene.complaints).toEqual([])
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
