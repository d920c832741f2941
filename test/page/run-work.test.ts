/** What runs changed, in a real browser over real worktrees. */
import { existsSync } from "node:fs"

import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"

import { openRepositoryScene, serveWorld } from "../scene/repository.ts"
import { until } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"
import { openBrowser, openPageScene, type PageScene } from "./page-scene.ts"
import { seriousProblems } from "./serious-problems.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const open = async (scene: PageScene, run: string): Promise<Page> => {
  const { page } = scene
  await page.getByRole("link", { name: "Spaces" }).click()
  await page.getByRole("link", { name: /s1/ }).first().click()
  await page.getByRole("link", { name: run, exact: true }).click()
  await page.getByRole("heading", { name: `Run ${run}` }).waitFor()
  return page
}

const NUMBERS = Array.from({ length: 30 }, (_, line) => `line ${line + 1}\n`)
const changedAt = (...places: readonly number[]): string =>
  NUMBERS.map((line, index) => (places.includes(index + 1) ? `changed ${line}` : line)).join("")

verifies("page.run-work", async () => {
  const repository = openRepositoryScene({ "src/a.txt": NUMBERS.join(""), "gone.txt": "x\n" })
  await repository.work(
    { "src/a.txt": changedAt(3, 25), "<b>new</b>.txt": "\u001b[31m<script>alert(1)</script>\n" },
    {},
    {},
    "rm gone.txt",
  )
  await using scene = await openPageScene(browser, { world: serveWorld(repository) })
  const page = await open(scene, "r1")
  const changes = page.getByRole("region", { name: "Changes" })
  await changes.getByText("3 files, +3 −3").waitFor()
  const hunks = changes.getByRole("group", { name: /^src\/a\.txt @@/ })
  await hunks.first().waitFor()
  expect(await hunks.count()).toBe(2)
  expect(await changes.locator("summary").allInnerTexts()).toEqual([
    "<b>new</b>.txt added +1 −0",
    "gone.txt deleted +0 −1",
    "src/a.txt +2 −2",
  ])
  await changes.getByText("<script>alert(1)</script>").waitFor()
  await scene.screenshot("run-changes")
  // With the keyboard: a line number, its neighbour, a comment, and back.
  await hunks.first().getByRole("button", { name: "Comment on line 1", exact: true }).focus()
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("Enter")
  await page.getByRole("textbox", { name: "Comment on src/a.txt, line 2" }).waitFor()
  expect(await seriousProblems(page)).toEqual([])
  await page.keyboard.press("Escape")
  await page.getByRole("textbox", { name: /Comment on/ }).waitFor({ state: "detached" })
  // Discarded only after confirmation.
  await changes.getByRole("button", { name: "Discard" }).click()
  await changes.getByRole("button", { name: "Keep it" }).click()
  await changes.getByRole("button", { name: "Apply", exact: true }).click()
  await changes
    .getByRole("status")
    .getByText(/^3 files applied: 1 commit on main, now [0-9a-f]{10}\.$/)
    .waitFor()
  await changes.getByText("This work was applied.").waitFor()
  expect(repository.read("src/a.txt")).toBe(changedAt(3, 25))
  expect(await changes.getByRole("button", { name: /Apply|Discard/ }).count()).toBe(0)
  // Its changes can still be viewed.
  await changes.getByText("3 files, +3 −3").waitFor()
  await scene.screenshot("run-applied")
  expect(scene.complaints).toEqual([])
})

verifies(
  "page.run-work",
  async () => {
    const repository = openRepositoryScene()
    await repository.work({ "a.txt": "two\n" })
    await repository.work({ "a.txt": "three\n" }, { space: "s1" })
    await repository.call("run.apply", { run_ids: ["r1"], space: "s1" })
    const before = repository.checkout()
    await using scene = await openPageScene(browser, { world: serveWorld(repository) })
    const page = await open(scene, "r2")
    const changes = page.getByRole("region", { name: "Changes" })
    await changes.getByRole("button", { name: "Apply", exact: true }).click()
    await changes
      .getByRole("alert")
      .getByText(/Run r2 conflicts with run r1 in a\.txt; nothing was changed\./)
      .waitFor()
    expect(repository.checkout()).toBe(before)
    await scene.screenshot("run-conflict")
    await changes.getByRole("button", { name: "Discard" }).click()
    await changes.getByRole("button", { name: "Yes, discard this work" }).click()
    await changes
      .getByRole("status")
      .getByText("Discarded 1 changed file; refs/meridian/discarded/s1-r2 still has them.")
      .waitFor()
    await changes.getByText("This work was discarded.").waitFor()
    expect(repository.git("show", "refs/meridian/discarded/s1-r2:a.txt")).toBe("three")
  },
  "a conflict is told and changes nothing; what is thrown away stays reachable",
)

verifies(
  "page.run-work",
  async () => {
    const repository = openRepositoryScene()
    await repository.work(
      { "a.txt": "two\n" },
      { check: ["grep -q three a.txt"], check_rounds: 0 },
      { face: "command" },
    )
    await using scene = await openPageScene(browser, { world: serveWorld(repository) })
    const page = await open(scene, "r1")
    const changes = page.getByRole("region", { name: "Changes" })
    await changes.getByRole("button", { name: "Apply, leave staged" }).click()
    await changes.getByText(/The checks of run r1 are red, so it is not applied\./).waitFor()
    expect(repository.git("status", "--porcelain")).toBe("")
    await changes.getByRole("button", { name: "Apply all the same" }).click()
    await changes
      .getByRole("status")
      .getByText(/^1 file staged/)
      .waitFor()
    expect(repository.git("status", "--porcelain")).toBe("M  a.txt")
  },
  "red checks are told, and a person may take the work all the same, as it was asked for",
)

verifies(
  "page.run-work",
  async () => {
    const repository = openRepositoryScene()
    repository.harness("claude", {
      answer: "done",
      does: "echo two > a.txt; while [ ! -e go ]; do sleep 0.05; done",
    })
    const running = repository.start("run.spawn", {
      prompt: "do it",
      harness: "claude",
      permission: "workspace-write",
      worktree: true,
    })
    await until(() => existsSync(repository.state("s1/runs/r1/prompt.md")))
    await using scene = await openPageScene(browser, { world: serveWorld(repository) })
    const page = await open(scene, "r1")
    const changes = page.getByRole("region", { name: "Changes" })
    await changes.getByText("It can be applied when the run has ended.").waitFor()
    await until(async () => {
      await changes.getByRole("button", { name: "Look again" }).click()
      return (await changes.getByRole("button", { name: "Comment on line 1", exact: true }).count()) === 1
    })
    await changes.getByRole("button", { name: "Comment on removed line 1" }).click()
    await page.getByRole("textbox", { name: "Comment on a.txt, line 1" }).fill("Why did this go?")
    await page.keyboard.press("Enter")
    await changes.getByText("Sent. The agent gets it at the end of its turn.").waitFor()
    await scene.screenshot("run-comment")
    expect(repository.events("s1/runs/r1/inbox.jsonl")).toMatchObject([
      { text: "About a.txt:1 before your change (you removed this line):\n> one\n\nWhy did this go?" },
    ])
    expect(scene.complaints).toEqual([])
    running.child.kill("SIGTERM")
    await running.ended
  },
  "a comment on a line becomes the next message of a run at work",
)

test("what a run without a worktree changed is shown to who asks, and there is nothing to apply", async () => {
  const repository = openRepositoryScene()
  await repository.work({ "a.txt": "two\n" }, { worktree: false })
  await using scene = await openPageScene(browser, { world: serveWorld(repository) })
  const page = await open(scene, "r1")
  await page.getByRole("button", { name: "Show what it changed" }).click()
  await page.getByText("1 file, +1 −1").waitFor()
  expect(await page.getByRole("button", { name: /Apply|Discard/ }).count()).toBe(0)
})
