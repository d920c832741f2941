import { join } from "node:path"

import { openEngine } from "@meridian/engine"
/** A session of another harness, shown in the page. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { importFile, sessionFile } from "../import-scene.ts"
import { isLive, row } from "./page-data.ts"
import { openBrowser, openPageScene } from "./page-scene.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

test("a person reads an imported conversation and goes on with it", async () => {
  await using scene = await openPageScene(browser, {
    answers: [{ text: "Going on with the lab.", usage: { input: 9_000, output: 100 } }],
    prepare: async ({ stateRoot, directory }) => {
      const engine = await openEngine({
        database: join(stateRoot, "engine.sqlite"),
        models: [],
        recover: false,
      })
      await importFile(engine, sessionFile("claude"), directory, "ses_imported")
      await engine.close()
    },
  })
  const { page } = scene
  await page.locator('a[href*="ses_imported"]').first().click()
  await isLive(page)
  await page.getByText("And now the kumquat?").first().waitFor()
  await row(page, "Tool Read, done").waitFor()
  await row(page, "Tool Bash, failed").waitFor()
  await row(page, "Compaction, ended").waitFor()
  await page.getByRole("textbox", { name: "Prompt" }).fill("What was it about?")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("Going on with the lab.").first().waitFor()
  await scene.screenshot("imported")
  expect(scene.complaints).toEqual([])
})
