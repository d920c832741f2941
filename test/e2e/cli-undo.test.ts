/** `meridian session undo`, `redo`, `files` and `fork`: the lines of the guide, in order. */
import { readFileSync } from "node:fs"

import { expect } from "vitest"

import { bash, calls, openUndoScene } from "../undo-scene.ts"
import { verifies } from "../verifies.ts"
import { meridian } from "./cli-binary.ts"

verifies("undo.commands", async () => {
  await using home = await openUndoScene([
    bash("echo two > a.txt"),
    { text: "done" },
    calls(["write", { path: "b.txt", content: "new\n" }]),
    { text: "done" },
  ])
  await home.say("change a")
  await home.say("write b")
  await home.scene.engine.close()
  const { directory, file } = home.scene
  const run = async (line: string, ...more: readonly string[]) => {
    const answer = await meridian([...line.split(" "), "--database", file, ...more], { cwd: directory })
    return [answer.code, answer.stdout.trimEnd(), answer.stderr] as const
  }
  const [, block = ""] = /```\n([\s\S]*?)```/.exec(readFileSync("docs/guide/undo.md", "utf8")) ?? []
  const lines = block
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().replace("meridian ", "").replaceAll("ses_1", "ses_test"))
    .filter((line) => line !== "")
  expect(lines).toHaveLength(7)
  const [undo = "", undoFiles = "", undoTalk = "", redo = "", files = "", fork = "", forkFiles = ""] = lines
  expect(await run(undo)).toEqual([0, "Taken back: write b\nD b.txt", ""])
  expect(await run(redo)).toEqual([0, "Brought back: write b\nA b.txt", ""])
  expect(await run(files)).toEqual([0, "Prompt 1: change a\nM a.txt", ""])
  expect((await run(files, "--diff"))[1]).toContain("-one\n+two")
  expect((await run(fork))[0]).toBe(0)
  expect((await run(forkFiles))[0]).toBe(0)
  expect([home.read("a.txt"), home.read("b.txt")]).toEqual(["two\n", undefined])
  expect((await run(redo))[0]).toBe(0)
  home.write("a.txt", "mine\n")
  const refused = await run(undoFiles)
  expect([refused[0], refused[2]]).toEqual([1, expect.stringMatching(/^ERROR \[FILES_CHANGED\]: .*a\.txt/)])
  expect([home.read("a.txt"), home.read("b.txt")]).toEqual(["mine\n", "new\n"])
  expect((await run(undoFiles, "--yes"))[0]).toBe(0)
  expect([home.read("a.txt"), home.read("b.txt")]).toEqual(["one\n", undefined])
  expect((await run(redo))[0]).toBe(0)
  expect([home.read("a.txt"), home.read("b.txt")]).toEqual(["mine\n", "new\n"])
  expect(await run(undoTalk)).toEqual([0, "Taken back: write b\nNo file changed.", ""])
})
