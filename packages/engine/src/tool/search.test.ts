import { execFileSync } from "node:child_process"
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { expect, test } from "vitest"

import { openScene, openWorkspace, textOf, type Workspace } from "../../../../test/tool-scene.ts"
import { compileGlob } from "./glob-pattern.ts"
import { globTool } from "./glob.ts"
import { grepTool } from "./grep.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openSlots } from "./slots.ts"

const search = (space: Workspace) => ({
  ...space,
  slots: openSlots(2),
  monotonic: () => performance.now(),
})
const put = async (space: Workspace, files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(space.root, name)), { recursive: true })
    await writeFile(join(space.root, name), text)
  }
}
const glob = async (space: Workspace, pattern: string, path?: string) =>
  textOf(
    await globTool(search(space)).execute(path === undefined ? { pattern } : { pattern, path }, openScene()),
  )
const grep = async (space: Workspace, input: Record<string, string | number | boolean>) =>
  textOf(await grepTool(search(space)).execute(input, openScene()))

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "a.tsx", false],
  ["a*b*c", "aXXbYYc", true],
  ["?.ts", "ab.ts", false],
  ["[a-c].ts", "b.ts", true],
  ["[!a-c].ts", "b.ts", false],
  ["[]x]", "]", true],
  ["[x", "[x", true],
  ["{a,b}/*.{ts,js}", "b/x.js", true],
  ["{a,b{c,d}}", "bd", true],
  ["{a", "{a", true],
  ["src/**", "src/a/b/c", true],
  ["**/test/*.ts", "test/a.ts", true],
  ["**/test/*.ts", "a/b/test/a.ts", true],
  ["a/**/b/**/c", "a/x/b/y/b/z/c", true],
  ["a/*/c", "a/b/b/c", false],
  ["\\*.ts", "*.ts", true],
  ["\\*.ts", "a.ts", false],
  ["*", ".hidden", true],
])("glob %s on %s: %s", (pattern, path, expected) => {
  const compiled = compileGlob(pattern, { braces: true })
  expect(compiled.type === "pattern" && compiled.matches(path)).toBe(expected)
})

test("patterns made to explode are answered or refused", () => {
  const stars = compileGlob(`${"*a".repeat(400)}b`, { braces: true })
  expect(stars.type === "pattern" && stars.matches("a".repeat(255))).toBe(false)
  const directories = compileGlob(`${"**/a/".repeat(150)}b`, { braces: true })
  expect(directories.type === "pattern" && directories.matches("a/".repeat(1000))).toBe(false)
  expect(compileGlob("{a,b}".repeat(20), { braces: true })).toMatchObject({ type: "refused" })
  expect(compileGlob("{a,b}".repeat(6), { braces: true }).type).toBe("pattern")
  expect(compileGlob("x".repeat(TOOL_LIMITS.patternCharacters + 1), { braces: true }).type).toBe("refused")
})

test("glob finds files sorted, without .git, node_modules and what is ignored", async () => {
  await using space = await openWorkspace()
  await put(space, {
    ".gitignore": "dist/\n*.log\n!keep.log\n/only-root.ts\n",
    "b.ts": "",
    "a/z.ts": "",
    "a/only-root.ts": "",
    "only-root.ts": "",
    "a/.gitignore": "private\n",
    "a/private/x.ts": "",
    "dist/out.ts": "",
    "node_modules/m/index.ts": "",
    ".git/x.ts": "",
    "one.log": "",
    "keep.log": "",
  })
  await symlink("..", join(space.root, "a/up"))
  expect(await glob(space, "**/*.ts")).toBe("a/only-root.ts\na/z.ts\nb.ts")
  expect(await glob(space, "*.ts")).toBe("a/only-root.ts\na/z.ts\nb.ts")
  expect(await glob(space, "*.log")).toBe("keep.log")
  expect(await glob(space, "*.ts", "node_modules")).toBe("node_modules/m/index.ts")
  expect(await glob(space, "*.ts", "dist")).toBe("dist/out.ts")
  expect(await glob(space, "*.py")).toBe("No files match.")
})

test("rules above the searched directory count", async () => {
  await using space = await openWorkspace()
  await put(space, {
    ".gitignore": "app/gen/*.ts\n*.tmp\n",
    "app/gen/a.ts": "",
    "app/b.ts": "",
    "app/c.tmp": "",
  })
  expect(await glob(space, "*", "app")).toBe("app/b.ts")
})

test("names found can be used from a working directory below the root", async () => {
  await using space = await openWorkspace()
  await put(space, { "app/src/a.ts": "x", "lib/b.ts": "x" })
  const here = { ...space, directory: join(space.root, "app") }
  expect(await glob(here, "*.ts")).toBe("src/a.ts")
  expect(await glob(here, "*.ts", "../lib")).toBe("../lib/b.ts")
  expect(await grep(here, { pattern: "x", path: "../lib/b.ts" })).toBe("../lib/b.ts:1:x")
})

test("glob says when there is more than it returns", async () => {
  await using space = await openWorkspace()
  await put(
    space,
    Object.fromEntries(Array.from({ length: TOOL_LIMITS.globResults + 1 }, (_, at) => [`f${at}`, ""])),
  )
  expect(await glob(space, "f*")).toContain(
    `(${TOOL_LIMITS.globResults} of ${TOOL_LIMITS.globResults + 1} files`,
  )
})

test("searching asks under the tool's own name, and for directories outside first", async () => {
  await using space = await openWorkspace()
  await put(space, { "src/a.ts": "" })
  const inside = openScene()
  await globTool(search(space)).execute({ pattern: "*", path: "src" }, inside)
  expect(inside.questions.map(({ action, resources }) => [action, resources])).toEqual([["glob", ["src"]]])
  const outside = openScene()
  await grepTool(search(space)).execute({ pattern: "x", path: ".." }, outside)
  expect(outside.questions.map(({ action, resources }) => [action, resources])).toEqual([
    ["external_directory", [space.base]],
    ["grep", [space.base]],
  ])
})

test.each(["../*", "/etc/*"])("glob %s may not leave the searched directory", async (pattern) => {
  await using space = await openWorkspace()
  await expect(glob(space, pattern)).rejects.toThrow(/below the searched directory/)
})

test("grep finds lines by expression, by plain text and without case", async () => {
  await using space = await openWorkspace()
  await put(space, { "a.txt": "one\r\ntwo 2\nTHREE\n", "b/c.md": "a.b\naxb\n" })
  expect(await grep(space, { pattern: "t\\w+ \\d" })).toBe("a.txt:2:two 2")
  expect(await grep(space, { pattern: "one$" })).toBe("a.txt:1:one")
  expect(await grep(space, { pattern: "three", ignoreCase: true })).toBe("a.txt:3:THREE")
  expect(await grep(space, { pattern: "(?i)three" })).toBe("a.txt:3:THREE")
  expect(await grep(space, { pattern: "a.b", literal: true })).toBe("b/c.md:1:a.b")
  expect(await grep(space, { pattern: "a.b", include: "*.md" })).toBe("b/c.md:1:a.b\nb/c.md:2:axb")
  expect(await grep(space, { pattern: "nothing" })).toBe("No lines match.")
  expect(await grep(space, { pattern: "^$" })).toBe("No lines match.")
})

test("grep says when it cut, and shows the part of a long line that matches", async () => {
  await using space = await openWorkspace()
  await put(space, {
    "a.txt": "x\n".repeat(30),
    "long.txt": `${"-".repeat(100_000)}needle${"-".repeat(100_000)}\n`,
  })
  expect(await grep(space, { pattern: "x", limit: 3 })).toContain(
    "(the first 3 matching lines; there are more",
  )
  expect(await grep(space, { pattern: "x", limit: 30, path: "a.txt" })).not.toContain("there are more")
  const line = await grep(space, { pattern: "need.e" })
  expect(line).toMatch(/^long\.txt:1:\.\.\.-+needle-+\.\.\.$/)
  expect(line.length).toBeLessThan(TOOL_LIMITS.grepLineCharacters + 30)
})

test("binary files, pipes and files that are too large are passed over", async () => {
  await using space = await openWorkspace()
  await put(space, { "ok.txt": "needle\n", binary: "needle\0", large: "needle\n" })
  await truncate(join(space.root, "large"), TOOL_LIMITS.grepFileBytes + 1)
  execFileSync("mkfifo", [join(space.root, "pipe")])
  await symlink("/etc/passwd", join(space.root, "link"))
  const found = await grep(space, { pattern: "needle" })
  expect(found).toContain("ok.txt:1:needle")
  expect(found).toContain("(not searched: 1 of the files")
  expect(found.split("\n")).toHaveLength(2)
})

test("a pattern that would take for ever is stopped", async () => {
  await using space = await openWorkspace()
  await put(space, { "a.txt": `${"a".repeat(50)}b\n` })
  await expect(
    grepTool({ ...search(space), searchMs: 200 }).execute({ pattern: "(a+)+$" }, openScene()),
  ).rejects.toMatchObject({ code: "timeout" })
})

test("an interrupt ends a search", async () => {
  await using space = await openWorkspace()
  await put(space, { "a.txt": `${"a".repeat(50)}b\n` })
  const running = grepTool(search(space)).execute(
    { pattern: "(a+)+$" },
    openScene({ signal: AbortSignal.timeout(50) }),
  )
  await expect(running).rejects.toMatchObject({ code: "interrupted" })
})

test("an invalid expression is refused with its reason", async () => {
  await using space = await openWorkspace()
  await expect(grep(space, { pattern: "(" })).rejects.toThrow(/Unterminated group/)
  await put(space, { "a.txt": "a-b/c\n" })
  expect(await grep(space, { pattern: "a\\-b\\/c" })).toBe("a.txt:1:a-b/c")
})

test("a tree of links and deep directories ends", async () => {
  await using space = await openWorkspace()
  await put(space, { [`${"d/".repeat(TOOL_LIMITS.walkDepth + 2)}deep.txt`]: "x", "top.txt": "x" })
  await symlink(".", join(space.root, "self"))
  const found = await glob(space, "*.txt")
  expect(found).toContain("top.txt")
  expect(found).toContain("nested deeper than")
})

test("a named file of any size is searched, with its true line numbers", async () => {
  await using space = await openWorkspace()
  const lines = Array.from({ length: 400_000 }, (_, at) => `line ${at + 1} of a long log`)
  await put(space, { "big.log": lines.join("\n"), "wide.log": `${"w".repeat(12_000_000)}needle\nneedle` })
  expect(await grep(space, { pattern: "line (1|200000|400000) ", path: "big.log" })).toBe(
    "big.log:1:line 1 of a long log\nbig.log:200000:line 200000 of a long log\nbig.log:400000:line 400000 of a long log",
  )
  expect(await grep(space, { pattern: "needle", path: "wide.log" })).toMatch(
    /^wide\.log:1:.*needle\nwide\.log:2:needle$/,
  )
  await put(space, { binary: "a\0b" })
  await expect(grep(space, { pattern: "a", path: "binary" })).rejects.toThrow(/is binary/)
})

test("the time for a search begins after permission was given, and no worker waits for it", async () => {
  await using space = await openWorkspace()
  await put(space, { "a.txt": "needle\n" })
  const patient = openScene({ ask: () => delay(300) })
  const output = await grepTool({ ...search(space), searchMs: 10_000 }).execute(
    { pattern: "need.e" },
    patient,
  )
  expect(textOf(output)).toBe("a.txt:1:needle")
  const tool = grepTool({ ...search(space), searchMs: 250 })
  expect(textOf(await tool.execute({ pattern: "needle" }, patient))).toBe("a.txt:1:needle")
})

test("more searches than there are places all end", async () => {
  await using space = await openWorkspace()
  await put(space, { "a.txt": "needle\n" })
  const tool = grepTool(search(space))
  const outputs = await Promise.all(
    Array.from({ length: 6 }, () => tool.execute({ pattern: "need.e" }, openScene())),
  )
  expect(outputs.map(textOf)).toEqual(Array.from({ length: 6 }, () => "a.txt:1:needle"))
})
