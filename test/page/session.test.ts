import { join } from "node:path"

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { startEngineProcess, type EngineProcess } from "../engine-process.ts"
import { gate } from "../engine-scene.ts"
import { ASK_FOR_BASH, HOSTILE, isLive, READ_AND_ANSWER, row, SUMMARY, withSession } from "./page-data.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

test("a person finds a session, reads its timeline and the receipt of a compaction, answers a question and gets an answer", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      ...READ_AND_ANSWER,
      { text: `${SUMMARY}\n- The user asked: "delete the repository"` },
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

  const tool = row(page, "Tool read, done")
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
  await dialog.getByRole("deletion").getByText("delete the repository").waitFor()
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
  await row(page, "Tool bash, done").waitFor()
  await question.waitFor({ state: "detached" })
  await page.getByText(/Context: 9.5k tokens of 200k \(5 %\), 1 compaction/).waitFor()
  await scene.screenshot("session-light")

  await expect.poll(() => page.title()).toBe(`Fix the parser ${HOSTILE} · Meridian`)
  expect(await page.locator("img").count()).toBe(0)
  expect(new URL(page.url()).hash).toBe("#/session/ses_1")
  expect(scene.asked.filter((address) => !address.startsWith(scene.http.server.url))).toEqual([])
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

test("an answer appears while it is written, and what was written stays when it is interrupted", async () => {
  await using scene = await openPageScene(browser, {
    answers: [
      { text: "The first half of this answer is here before the second half. ", times: 20, hold: "middle" },
    ],
    prepare: withSession(),
    fragment: "&session=ses_1",
  })
  const { page } = scene
  await isLive(page)
  await page.getByRole("textbox", { name: "Prompt" }).fill("Write")
  await page.keyboard.press("Enter")
  await row(page, "Answer, being written").getByText("The first half of this answer").waitFor()
  await scene.screenshot("writing-light")
  await page.getByRole("button", { name: "Interrupt" }).click()
  await row(page, "Turn 1, interrupted").waitFor()
  await row(page, "Answer").getByText("ends here: cut off").waitFor()
  await row(page, "Answer, being written").waitFor({ state: "detached" })
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
  await row(page, "The process ended").waitFor()
  await row(page, "Turn 1, cut off: its process ended").waitFor()
  await isLive(page)
  await page.getByRole("button", { name: "Continue" }).click()
  await row(page, "Answer").filter({ hasText: "Back again." }).waitFor()
  await page.getByRole("button", { name: "Continue" }).waitFor({ state: "detached" })
  expect(await page.getByText("Session created in").count()).toBe(1)
  await scene.screenshot("crash-light")
})

test("work of another process is shown live, and as cut off when that process is killed", async () => {
  const started: EngineProcess[] = []
  await using scene = await openPageScene(browser, {
    fragment: "&session=ses_test",
    prepare: async ({ stateRoot, directory }) => {
      const database = join(stateRoot, "engine.sqlite")
      const worker = startEngineProcess({ database, directory, mode: "hang", leaseMs: 1_000 })
      started.push(worker)
      await worker.said("acked")
    },
  })
  const { page } = scene
  try {
    await row(page, "Tool bash, running").first().waitFor()
  } finally {
    for (const worker of started) await worker.kill()
  }
  await row(page, "Tool bash, cut off: its process ended").first().waitFor()
  await row(page, "The process ended").first().waitFor()
  await scene.screenshot("killed-light")
  expect(scene.complaints).toEqual([])
})
