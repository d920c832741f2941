import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterEach, beforeEach, expect, test } from "vitest"

import { readBranch, readProjects } from "./rules-surroundings.ts"
import { openRuleShelf, RULE_FILE_LIMITS } from "./rules.ts"

let root = ""
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "meridian-rules-"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const write = (path: string, text: string | Buffer): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

test("as many rules are read as the limit says, and the rest is named once", () => {
  for (let index = 0; index <= RULE_FILE_LIMITS.files; index += 1)
    write(`rules/r${String(index).padStart(4, "0")}.md`, "x")
  // The clock stands still, so the number of files is the bound, not the time.
  const { rules, warnings } = openRuleShelf(
    () => [{ root, path: "rules" }],
    () => 0,
  ).read()
  expect(rules).toHaveLength(RULE_FILE_LIMITS.files)
  expect(warnings).toEqual(["rules folder rules has more than 500 rules, the rest is left out"])
})

test("folders are searched as deep as the limit says", () => {
  write(`rules/${"d/".repeat(RULE_FILE_LIMITS.depth)}in.md`, "in")
  write(`rules/${"d/".repeat(RULE_FILE_LIMITS.depth + 1)}out.md`, "out")
  const { rules } = openRuleShelf(
    () => [{ root, path: "rules" }],
    () => 0,
  ).read()
  expect(rules.map(({ body }) => body)).toEqual(["in"])
})

test("a rule longer than the limit is cut, with a warning", () => {
  write("rules/long.md", "x".repeat(RULE_FILE_LIMITS.bytes + 1))
  const { rules, warnings } = openRuleShelf(() => [{ root, path: "rules" }]).read()
  expect(rules[0]?.body).toHaveLength(RULE_FILE_LIMITS.bytes)
  expect(warnings).toEqual([
    `rule long.md is longer than ${RULE_FILE_LIMITS.bytes} bytes, the rest is left out`,
  ])
})

test("when there is no time, what was known stays, and the rest is silently read later", () => {
  for (let index = 0; index < 300; index += 1) write(`rules/r${index}.md`, `rule ${index}`)
  let now = 0
  let step = 0
  const shelf = openRuleShelf(
    () => [{ root, path: "rules" }],
    () => (now += step),
  )
  step = 1000
  const first = shelf.read()
  expect(first.rules.length).toBeLessThan(300)
  expect(first.warnings).toEqual([])
  step = 0
  expect(shelf.read().rules).toHaveLength(300)
  step = 1000
  expect(shelf.read().rules).toHaveLength(300)
})

test.each([
  ["package.json", "{}", ["node"]],
  ["pyproject.toml", "", ["python"]],
  ["go.mod", "", ["go"]],
  ["turbo.json", "{}", ["monorepo"]],
  ["manifest.json", `{"manifest_version":3,"action":{}}`, ["browser-extension"]],
  ["manifest.json", `{"manifest_version":3}`, []],
  ["manifest.json", "{", []],
  ["README.md", "", []],
])("a project with %s %s is %j", (file, text, kinds) => {
  write(file, text)
  expect(readProjects(root)).toEqual(kinds)
})

test("the branch is read from git's own files, also in a linked worktree; a detached head is none", () => {
  expect(readBranch(root)).toBeUndefined()
  write("main/.git/HEAD", "ref: refs/heads/feature/x\n")
  expect(readBranch(join(root, "main"))).toBe("feature/x")
  write("main/.git/worktrees/w/HEAD", "ref: refs/heads/other\n")
  write("linked/.git", `gitdir: ${join(root, "main/.git/worktrees/w")}\n`)
  expect(readBranch(join(root, "linked"))).toBe("other")
  write("main/.git/HEAD", "3f786850e387550fdab836ed7e6dc881de23001b\n")
  expect(readBranch(join(root, "main"))).toBeUndefined()
})
