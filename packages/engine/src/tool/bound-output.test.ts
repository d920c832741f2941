import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openWorkspace, textOf } from "../../../../test/tool-scene.ts"
import { boundOutput } from "./bound-output.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openSpool } from "./spool.ts"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

test("what fits stays exactly as it is and leaves no file", async () => {
  await using space = await openWorkspace()
  const output = { ...text("x\n".repeat(TOOL_LIMITS.outputLines)), structured: { a: 1 } }
  expect(await boundOutput(output, space.outputDirectory)).toEqual(output)
  const wide = text("é".repeat(TOOL_LIMITS.outputBytes / 2))
  expect(await boundOutput(wide, space.outputDirectory)).toEqual(wide)
  await expect(readdir(space.outputDirectory)).rejects.toThrow(/ENOENT/)
})

test.each([
  ["one line too many", "x\n".repeat(TOOL_LIMITS.outputLines + 1)],
  ["one byte too many", "x".repeat(TOOL_LIMITS.outputBytes + 1)],
  ["10 MB in lines", Array.from({ length: 100_000 }, (_, at) => `${at} ${"é".repeat(45)}`).join("\n")],
  ["10 MB in one line of wide characters", "😀".repeat(2_500_000)],
])("%s: a preview from both ends, the whole in a file of its owner", async (_, whole) => {
  await using space = await openWorkspace()
  const output = await boundOutput(text(whole), space.outputDirectory)
  const preview = textOf(output)
  expect(Buffer.byteLength(preview)).toBeLessThan(TOOL_LIMITS.outputBytes + 500)
  expect(preview.split("\n").length).toBeLessThanOrEqual(TOOL_LIMITS.outputLines + 5)
  expect(preview).toContain(`the full text is in ${output.outputPath}`)
  expect(preview).not.toContain("\uFFFD")
  const [head = "", tail = ""] = preview.split(/\n\n\[\.\.\. .* \.\.\.\]\n\n/)
  expect(head.length).toBeGreaterThan(0)
  expect(whole.startsWith(head)).toBe(true)
  expect(tail.length).toBeGreaterThan(0)
  expect(whole.endsWith(tail)).toBe(true)
  expect(await readFile(output.outputPath ?? "", "utf8")).toBe(whole)
  expect((await stat(output.outputPath ?? "")).mode & 0o777).toBe(0o600)
  expect((await stat(space.outputDirectory)).mode & 0o777).toBe(0o700)
})

test("100 MB pushed in pieces keeps memory bounded and the file whole", async () => {
  await using space = await openWorkspace()
  const spool = openSpool(space.outputDirectory)
  const piece = Buffer.from(`${"y".repeat(1023)}\n`.repeat(64))
  const before = process.memoryUsage().arrayBuffers
  let highest = 0
  for (let at = 0; at < 1600; at++) {
    await spool.push(piece)
    highest = Math.max(highest, process.memoryUsage().arrayBuffers - before)
  }
  const spooled = await spool.finish()
  expect((await stat(spooled.outputPath ?? "")).size).toBe(1600 * piece.length)
  expect(highest).toBeLessThan(32 * 1024 * 1024)
})

test.each([1, 7, 50, 99, 100, 101, 250])(
  "pieces of %i bytes arrive in the file in order and whole",
  async (size) => {
    await using space = await openWorkspace()
    const whole = Buffer.from(Array.from({ length: 200 }, (_, at) => `line ${at}\n`).join(""))
    const spool = openSpool(space.outputDirectory, { lines: 1000, bytes: 100, fileBytes: 10_000 })
    for (let at = 0; at < whole.length; at += size) await spool.push(whole.subarray(at, at + size))
    const spooled = await spool.finish()
    expect(await readFile(spooled.outputPath ?? "", "utf8")).toBe(whole.toString())
    expect(spooled.text.startsWith("line 0\n")).toBe(true)
    expect(spooled.text.endsWith("line 198\nline 199\n")).toBe(true)
  },
)

test("bytes that are not text do not make a preview longer than its bound", async () => {
  await using space = await openWorkspace()
  const spool = openSpool(space.outputDirectory)
  const noise = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256))
  await spool.push(noise)
  const spooled = await spool.finish()
  expect(Buffer.byteLength(spooled.text)).toBeLessThan(TOOL_LIMITS.outputBytes + 500)
  expect(spooled.text).not.toContain("\0")
  expect((await readFile(spooled.outputPath ?? "")).equals(noise)).toBe(true)
})

test("a failing disk loses the rest of the text, not the call", async () => {
  await using space = await openWorkspace()
  await mkdir(join(space.base, "data"))
  await writeFile(space.outputDirectory, "a file where the directory should be")
  const output = await boundOutput(text("x\n".repeat(5000)), space.outputDirectory)
  expect(textOf(output)).toMatch(/left out here and lost: the file could not be written \(E(EXIST|NOTDIR)\)/)
  expect(output).not.toHaveProperty("outputPath")
})

test("a file that reaches its bound says that its end was lost", async () => {
  await using space = await openWorkspace()
  const spool = openSpool(space.outputDirectory, { lines: 10, bytes: 100, fileBytes: 500 })
  for (let at = 0; at < 20; at++) await spool.push(Buffer.from(`${"z".repeat(49)}\n`))
  const spooled = await spool.finish()
  expect(spooled.text).toContain("its end was lost: a file holds at most 500 bytes")
  expect((await stat(spooled.outputPath ?? "")).size).toBe(500)
})

test("a new file removes those that are a week old, and nothing else", async () => {
  await using space = await openWorkspace()
  const kept = async () =>
    (await boundOutput(text("x\n".repeat(5000)), space.outputDirectory)).outputPath ?? ""
  const [old, recent] = [await kept(), await kept()]
  const foreign = join(space.outputDirectory, "notes.txt")
  await writeFile(foreign, "")
  const longAgo = new Date(Date.now() - TOOL_LIMITS.outputKeptMs - 60_000) // oxlint-disable-line eslint/no-restricted-properties -- files have real times
  for (const file of [old, foreign]) await utimes(file, longAgo, longAgo)
  const newest = await kept()
  const left = (await readdir(space.outputDirectory)).map((name) => join(space.outputDirectory, name))
  expect(left.sort()).toEqual([recent, newest, foreign].sort())
})

test("media stays, and is bounded in number and size", async () => {
  await using space = await openWorkspace()
  const media = { type: "media" as const, mediaType: "image/png", base64: "AAAA" }
  const output = { content: Array.from({ length: TOOL_LIMITS.outputMediaParts + 1 }, () => media) }
  const bounded = await boundOutput(output, space.outputDirectory)
  expect(bounded.content.filter((part) => part.type === "media")).toHaveLength(TOOL_LIMITS.outputMediaParts)
  expect(textOf(bounded)).toContain("left out: too much media")
  const cut = await boundOutput(
    { content: [media, ...text("x\n".repeat(5000)).content] },
    space.outputDirectory,
  )
  expect(cut.content.map((part) => part.type)).toEqual(["text", "media"])
})

test("a structured form that is too large is left out", async () => {
  await using space = await openWorkspace()
  const output = { ...text("x"), structured: { big: "y".repeat(TOOL_LIMITS.structuredBytes) } }
  expect((await boundOutput(output, space.outputDirectory)).structured).toMatchObject({ leftOut: true })
})
