/** Mentions and children through the built command: a run has no person to answer, and ends anyway. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { document } from "./cli-binary.ts"

const DIRECT = ["run", "spawn", "--harness", "direct", "-p"] as const

verifies("mentions.run", async () => {
  const scene = await directScene({ script: [{ text: "Read." }] })
  writeFileSync(join(scene.project, "notes.txt"), "remember the milk\n")
  const ran = await scene.run(...DIRECT, "see @notes.txt and @gone.txt")
  expect([ran.stdout, ran.code]).toEqual(["Read.\n", 0])
  expect(scene.asked()[0]).toContain("remember the milk")
  const shown = await scene.run("run", "show", "r1", "--space", "s1", "--json")
  expect(shown.stdout).toContain("@gone.txt")
})

verifies("children.run", async () => {
  const scene = await directScene({
    script: [
      { tools: [{ name: "task", input: { description: "count", prompt: "count the files" } }] },
      { tools: [{ name: "bash", input: { command: "touch made.txt" } }] },
      { text: "I may not." },
      { text: "The helper could not." },
    ],
  })
  const ran = await scene.run(...DIRECT, "go", "--permission", "workspace-write")
  expect([ran.stdout, ran.code]).toEqual(["The helper could not.\n", 0])
  expect(scene.asked()[2]).toContain("Nobody can answer")
  expect(scene.asked()[3]).toContain("I may not.")
  expect(document(await scene.run("run", "show", "r1", "--space", "s1", "--json"))).toMatchObject({
    status: "succeeded",
  })
})

verifies(
  "children.run",
  async () => {
    // Parent and child ask side by side, and both get the same answer.
    const scene = await directScene({
      script: [
        { tools: [{ name: "task", input: { description: "count", prompt: "count", background: true } }] },
        { text: "Seven." },
        { text: "Seven." },
        { text: "It reported seven." },
      ],
    })
    const ran = await scene.run(...DIRECT, "go", "--permission", "workspace-write")
    expect([ran.stdout, ran.code]).toEqual([expect.stringContaining("It reported seven."), 0])
    expect(scene.asked().at(-1)).toContain("No person wrote this")
  },
  "background work belongs to the run",
)
