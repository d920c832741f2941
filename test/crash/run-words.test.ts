/**
 * Words that are sent to a run while it works: told at the next step of the engine, after the next tool of a harness with our
 * hook, else with the next message; and neither lost nor said twice when somebody is killed in between.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"
import { emptyFolder } from "../e2e/cli-binary.ts"
import {
  attempts,
  begun,
  ended,
  openOutliving,
  SAID,
  until,
  type OutlivingScene,
} from "../scene/outliving.ts"
import { verifies } from "../verifies.ts"

const WORDS = "leave the old invoices alone"
const SEND = ["run", "send", "r1", WORDS, "--space", "s1"] as const

const fileOf = ({ project }: { readonly project: string }, name: string): string =>
  join(project, ".meridian/.spaces/s1", name)

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const timesIn = (text: string): number => text.split(WORDS).length - 1

/** A run of the engine whose first tool waits for a file. */
const working = async (): Promise<DirectScene & { readonly go: string; readonly status: () => string }> => {
  const go = join(emptyFolder("go "), "go")
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: `until [ -e '${go}' ]; do sleep 0.1; done` } }] },
      { text: "All done.", repeat: true },
    ],
    env: { MERIDIAN_SUPERVISOR: "on", MERIDIAN_RETRY_BACKOFF_SECONDS: "0.05" },
  })
  const words = "run spawn --background --harness direct --permission full-access -p".split(" ")
  await scene.run(...words, "move billing")
  await until(() => textOf(fileOf(scene, "runs/r1/events.jsonl")).includes("tool.started"))
  const status = (): string =>
    [...textOf(fileOf(scene, "runs.jsonl")).matchAll(/"status":"(\w+)"/g)].at(-1)?.[1] ?? ""
  return { ...scene, go, status }
}

const isTold = (scene: { readonly project: string }): boolean =>
  textOf(fileOf(scene, "runs/r1/inbox.told")).includes('"told":1')

const endAll = (scene: { readonly project: string }): void => {
  const log = textOf(fileOf(scene, "runs.jsonl"))
  const pidOf = (key: string): number =>
    Number([...log.matchAll(new RegExp(`"${key}":(\\d+)`, "g"))].at(-1)?.[1])
  process.kill(pidOf("worker_pid"), "SIGKILL")
  process.kill(-pidOf("harness_pid"), "SIGKILL")
}

verifies(
  "run.steered-now",
  async () => {
    const scene = await working()
    await scene.run(...SEND)
    await until(() => isTold(scene))
    writeFileSync(scene.go, "")
    await until(() => scene.status() === "succeeded")
    const [, second, ...more] = scene.asked()
    expect(timesIn(second ?? "")).toBe(1)
    expect(more).toEqual([])
  },
  "an engine run, at its next step",
)

verifies(
  "run.words-once",
  async () => {
    const scene = await working()
    await scene.run(...SEND)
    await until(() => isTold(scene))
    // As when the worker had died before it could write that down.
    writeFileSync(fileOf(scene, "runs/r1/inbox.told"), '{"told":0}\n')
    endAll(scene)
    writeFileSync(scene.go, "")
    await until(() => scene.status() === "succeeded")
    expect(scene.asked().slice(1).map(timesIn)).toEqual([1])
  },
  "the engine is killed when it has them",
)

const listening = async (listens: "kept" | "unkept"): Promise<OutlivingScene> => {
  const scene = openOutliving({ noise: [SAID], listens, hold: true })
  await begun(scene)
  await scene.run(...SEND)
  await until(() => JSON.stringify(scene.claude.calls()).includes("additionalContext"))
  return scene
}

verifies(
  "run.steered-now",
  async () => {
    const go = join(emptyFolder("go "), "go")
    const scene = openOutliving({ noise: [SAID], listens: "kept", release: go, answer: "All done." })
    await begun(scene)
    await scene.run(...SEND)
    await until(() => JSON.stringify(scene.claude.calls()).includes("additionalContext"))
    writeFileSync(go, "")
    expect(attempts(await ended(scene))).toMatchObject([{ why: "succeeded" }])
    expect(scene.claude.calls().map(({ heard = "" }) => timesIn(heard))).toEqual([1])
  },
  "a harness with our hook, after its next tool",
)

verifies(
  "run.words-once",
  async () => {
    const scene = await listening("kept")
    scene.claude.behave({ answer: "All done." })
    endAll(scene)
    await ended(scene)
    expect(scene.claude.calls()[1]?.stdin).toMatch(/^\[meridian\] The process that carried out this run/)
    expect(timesIn(scene.claude.calls()[1]?.stdin ?? "")).toBe(0)
  },
  "a harness is killed when its conversation has them",
)

verifies(
  "run.words-once",
  async () => {
    const scene = await listening("unkept")
    scene.claude.behave({ answer: "All done." })
    endAll(scene)
    await ended(scene)
    expect(timesIn(scene.claude.calls()[1]?.stdin ?? "")).toBe(1)
  },
  "a harness is killed before its conversation has them",
)

verifies(
  "run.words-once",
  async () => {
    const scene = openOutliving({ noise: [SAID], hold: true })
    await begun(scene)
    await scene.run("run", "pause", "r1", "--space", "s1")
    await scene.run(...SEND)
    await scene.run("run", "resume", "r1", "--space", "s1")
    const events = fileOf(scene, "runs/r1/events.jsonl")
    await until(() => textOf(events).split("I have begun").length === 3)
    scene.claude.behave({ answer: "All done." })
    endAll(scene)
    await ended(scene)
    expect(scene.claude.calls().map(({ stdin = "" }) => timesIn(stdin))).toEqual([0, 1, 0])
  },
  "a harness is killed that has worked on the message with them",
)

verifies("run.words-shown", async () => {
  const scene = openOutliving({ noise: [SAID], hold: true })
  await begun(scene)
  await scene.run(...SEND)
  expect(await scene.show()).toMatchObject({
    words: { told: "tool", waiting: [{ text: WORDS, handed_over: false }] },
  })
  const { stdout } = await scene.run("run", "show", "r1", "--space", "s1")
  expect(stdout).toContain(
    `Sent: "${WORDS}" (will be told after its next tool, else with its next message)\n`,
  )
})

verifies("run-cap.told", async () => {
  const said = JSON.stringify({
    type: "assistant",
    parent_tool_use_id: null,
    message: {
      id: "msg_1",
      role: "assistant",
      content: [{ type: "text", text: "I have begun." }],
      usage: { input_tokens: 1_000, output_tokens: 200 },
    },
  })
  const scene = openOutliving({ noise: [said], listens: "kept", hold: true })
  const spawn = "run spawn --background --max-tokens 2000 -p".split(" ")
  await scene.run(...spawn, "move billing")
  await begun(scene, { isSpawned: true })
  await until(() => JSON.stringify(scene.claude.calls()).includes("additionalContext"))
  expect(scene.claude.calls()[0]?.heard).toContain(
    "[meridian] What is left of the budget for this work: 800 tokens of 2000 tokens (60 % used).",
  )
  // Only the next mark is told again: its next message says nothing of this one.
  scene.claude.behave({ answer: "All done." })
  endAll(scene)
  await ended(scene)
  expect(scene.claude.calls()[1]?.stdin).not.toContain("What is left of the budget")
})
