/** What a user sees of runs at work: live lines on a terminal, `run tail`, `run watch`, `run show`. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { BINARY, document } from "./cli-binary.ts"
import { openPseudoTerminal, type PseudoOptions, type PseudoTerminal } from "./pseudo-terminal.ts"

const SPAWN = ["run", "spawn", "--harness", "direct", "--permission", "full-access", "--space", "s1"]

/** A run that works until the file `go` exists. */
const script = [
  {
    text: "I will wait.",
    tools: [{ name: "bash", input: { command: "until [ -e go ]; do sleep 0.05; done" } }],
    usage: { input: 1_200, output: 30 },
  },
  { text: "It went.", usage: { input: 1_300, output: 10 } },
]

const openScene = async (): Promise<DirectScene> => {
  const scene = await directScene({ script: [{ text: "Made." }, ...script] })
  // The first run creates the space.
  await scene.run("run", "spawn", "--harness", "direct", "-p", "Make it.")
  return scene
}

const at = (scene: DirectScene, args: readonly string[], more: Partial<PseudoOptions> = {}): PseudoTerminal =>
  openPseudoTerminal(process.execPath, [BINARY, ...args], {
    cwd: scene.project,
    env: scene.env,
    columns: 120,
    ...more,
  })

const go = (scene: DirectScene): void => writeFileSync(join(scene.project, "go"), "")

verifies("run.live-line", async () => {
  const scene = await openScene()
  const terminal = at(scene, [...SPAWN, "-p", "Wait for the file.\nThen stop."])
  const seen = await terminal.until("bash until [ -e go ]")
  expect(seen).toMatch(/r2 \d+s · bash until \[ -e go \].* · Wait for the file\. · 1 tool · 1\.2k in 30 out/)
  go(scene)
  expect((await terminal.exited).code).toBe(0)
  // The live line is gone. The report and the facts stay.
  expect(terminal.text()).not.toContain("bash until")
  expect(terminal.text()).toContain("It went.")
})

test("run wait shows the same line, --quiet and a dumb terminal show none, and a terminal of 10 columns holds", async () => {
  const scene = await openScene()
  await scene.run(...SPAWN, "--background", "-p", "Wait.")
  const wait = ["run", "wait", "r2", "--space", "s1"]
  const [loud, quiet, dumb, narrow] = [
    at(scene, wait),
    at(scene, [...wait, "--quiet"]),
    at(scene, wait, { env: { ...scene.env, TERM: "dumb" } }),
    at(scene, wait, { columns: 10 }),
  ]
  await loud.until("bash until")
  await narrow.until("r2 ")
  go(scene)
  const codes = await Promise.all([loud, quiet, dumb, narrow].map(({ exited }) => exited))
  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(quiet.bytes()).not.toContain("bash until")
  expect(dumb.bytes()).not.toContain("bash until")
  for (const line of narrow
    .bytes()
    .split(/\r?\n/)
    .filter((text) => text.includes("r2 ·")))
    expect(line.length).toBeLessThanOrEqual(10)
})

test("in a pipe nothing but the answer is written", async () => {
  const scene = await openScene()
  go(scene)
  const ran = await scene.run(...SPAWN, "-p", "Wait.")
  expect(ran.stdout).toBe("It went.\n")
  expect(ran.stderr).not.toContain("·")
  expect(ran.stderr).not.toContain("\u001b")
})

verifies("run.tail", async () => {
  const scene = await openScene()
  await scene.run(...SPAWN, "--background", "-p", "Wait.")
  const tail = at(scene, ["run", "tail", "r2", "--space", "s1"])
  await tail.until("> bash until")
  expect(tail.text()).toContain("I will wait.")
  go(scene)
  await tail.until("r2 succeeded after")
  expect((await tail.exited).code).toBe(0)
  expect(tail.text()).toMatch(/It went\.\nr2 succeeded after \d+\.\ds$/)
  const told = document(await scene.run("run", "tail", "r2", "--space", "s1", "--once", "--json"))
  expect(told).toEqual({
    run_id: "r2",
    status: "succeeded",
    duration_secs: expect.any(Number),
    lines: ["I will wait.", "> bash until [ -e go ]; do sleep 0.05; done", "It went."],
  })
  expect((await scene.run("run", "tail", "r9", "--space", "s1")).stderr).toContain("ERROR [RUN_NOT_FOUND]")
})

verifies("run.watch", async () => {
  const scene = await openScene()
  await scene.run(...SPAWN, "--background", "-p", "Wait.")
  const watch = at(scene, ["run", "watch", "--space", "s1"])
  await watch.until("bash until")
  const once = await scene.run("run", "watch", "--space", "s1", "--once", "--json")
  expect(document(once)).toEqual({
    runs: [
      {
        run_id: "r2",
        status: "running",
        task: "Wait.",
        activity: "bash until [ -e go ]; do sleep 0.05; done",
        elapsed_secs: expect.any(Number),
      },
    ],
  })
  const shown = document(await scene.run("run", "show", "r2", "--space", "s1", "--json"))
  expect(shown).toMatchObject({
    task: "Wait.",
    activity: {
      line: "I will wait.",
      tool: "bash until [ -e go ]; do sleep 0.05; done",
      at: expect.any(String),
    },
    elapsed_secs: expect.any(Number),
  })
  go(scene)
  expect((await watch.exited).code).toBe(0)
  expect(watch.text()).toContain("succeeded")
  const listed = await scene.run("run", "list", "--space", "s1")
  expect(listed.stdout).toContain("Wait.")
  expect((await scene.run("run", "watch", "--space", "s1")).stdout).toBe("(nothing runs)\n")
})
