/** The bash tool with real shells. */
import { existsSync } from "node:fs"
import { mkdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

import { expect, test } from "vitest"

import { bashTool, pathsOutside, type BashOptions } from "../../packages/engine/src/tool/bash.ts"
import { endLeftovers } from "../../packages/engine/src/tool/end-leftovers.ts"
import { TOOL_LIMITS } from "../../packages/engine/src/tool/limits.ts"
import { openProcessGuard, type ProcessGuard } from "../../packages/engine/src/tool/process-guard.ts"
import { findProcesses } from "../../packages/engine/src/tool/process-table.ts"
import { openScene, openWorkspace, textOf, type Workspace } from "../tool-scene.ts"
import { verifies } from "../verifies.ts"

interface Bench extends AsyncDisposable {
  readonly space: Workspace
  readonly guard: ProcessGuard
  readonly run: (
    input: Record<string, string | number>,
    scene?: ReturnType<typeof openScene>,
  ) => Promise<string>
  readonly bash: ReturnType<typeof bashTool>
}

const openBench = async (more: Partial<BashOptions> = {}): Promise<Bench> => {
  const space = await openWorkspace()
  const guard = openProcessGuard({ graceMs: 100 })
  const bash = bashTool({ ...space, guard, environment: { PATH: "/usr/bin:/bin" }, graceMs: 200, ...more })
  return {
    space,
    guard,
    bash,
    run: async (input, scene = openScene()) => textOf(await bash.execute(input, scene)),
    [Symbol.asyncDispose]: async () => {
      await guard.close()
      await space[Symbol.asyncDispose]()
    },
  }
}

/** A dead process that its new parent has not reaped yet is dead. */
const alive = async (pid: number): Promise<boolean> => {
  const found = await findProcesses(async (row) => row.pid === pid)
  return found.length > 0
}
const eventually = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return
    await delay(10)
  }
  throw new Error("it never came true")
}
const pidIn = async (file: string): Promise<number> => {
  let pid = 0
  await eventually(async () => {
    pid = Number(await readFile(file, "utf8").catch(() => "0"))
    return pid > 0
  })
  return pid
}
const marked = (bench: Bench) =>
  findProcesses(async (_, environment) => (await environment()).has(bench.guard.mark))

test("output of both streams comes in order, with the exit code", async () => {
  await using bench = await openBench()
  const scene = openScene()
  expect(
    await bench.run({ command: "echo one; echo two >&2; echo three > /dev/stderr; exit 3" }, scene),
  ).toBe("one\ntwo\nthree\n\n[exit code 3]")
  expect(scene.questions).toEqual([
    {
      action: "bash",
      resources: ["echo one; echo two >&2; echo three > /dev/stderr; exit 3"],
      title: "echo one; echo two >&2; echo three > /dev/stderr; exit 3",
      detail: { command: "echo one; echo two >&2; echo three > /dev/stderr; exit 3", directory: "." },
    },
  ])
})

test("a command without output, one that reads input and one that ends by a signal", async () => {
  await using bench = await openBench()
  expect(await bench.run({ command: "true" })).toBe("(no output)\n\n[exit code 0]")
  expect(await bench.run({ command: "cat; echo end" })).toBe("end\n\n[exit code 0]")
  expect(await bench.run({ command: "exec 2>/dev/null; kill -TERM $$" })).toContain(
    "[exit code 143, as after SIGTERM]",
  )
})

verifies(
  "tools.bash.workdir",
  async () => {
    await using bench = await openBench()
    await mkdir(join(bench.space.root, "sub"))
    expect(await bench.run({ command: "pwd", workdir: "sub" })).toContain(join(bench.space.root, "sub"))
    const scene = openScene()
    await bench.run({ command: "pwd", workdir: ".." }, scene)
    expect(scene.questions.map(({ action, resources }) => [action, resources])).toEqual([
      ["external_directory", [bench.space.base]],
      ["bash", [`(in ${bench.space.base}) pwd`]],
    ])
    await expect(bench.run({ command: "pwd", workdir: "missing" })).rejects.toMatchObject({
      code: "not-found",
    })
  },
  "workdir is resolved, and asked for when it lies outside",
)

verifies(
  "tools.bash.advice",
  async () => {
    await using bench = await openBench()
    const scene = openScene()
    const text = await bench.run({ command: `cat /etc/hostname ${bench.space.root}/none 2>/dev/null` }, scene)
    expect(text).toContain("[note: the command names paths outside the project: /etc/hostname]")
    expect(scene.questions.map(({ action }) => action)).toEqual(["bash"])
    expect(pathsOutside("x > /p/a /p/../q --file=/r 'a b'/c http://host/path", "/p")).toEqual(["/q", "/r"])
  },
  "absolute arguments outside the project are pointed out, not asked for",
)

test("a long output is cut, with the whole of it in a file", async () => {
  await using bench = await openBench()
  const output = await bench.bash.execute({ command: "seq 1 200000" }, openScene())
  const text = textOf(output)
  expect(text.startsWith("1\n2\n")).toBe(true)
  expect(text).toContain("\n200000\n\n[exit code 0]")
  expect(text).toContain(`the full text is in ${output.outputPath}`)
  const kept = await readFile(output.outputPath ?? "", "utf8")
  expect(kept.split("\n")).toHaveLength(200_001)
  expect((await stat(output.outputPath ?? "")).mode & 0o777).toBe(0o600)
})

test("100 MB of output end in a file, not in memory", async () => {
  await using bench = await openBench()
  const output = await bench.bash.execute(
    { command: "head -c 100000000 /dev/zero | tr '\\0' x" },
    openScene(),
  )
  expect((await stat(output.outputPath ?? "")).size).toBe(100_000_000)
  expect(Buffer.byteLength(textOf(output))).toBeLessThan(TOOL_LIMITS.outputBytes + 1000)
})

test("a timeout ends the whole group, also what ignores being asked", async () => {
  await using bench = await openBench()
  const command = "echo begun; trap '' TERM; (trap '' TERM; sleep 1000) & sleep 1000; sleep 1000; sleep 1000"
  await expect(bench.run({ command, timeout: 1500 })).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringMatching(
      /^The command was ended after 1\.5 s \(timeout\).* It had said:\nbegun\n$/,
    ),
  })
  expect(await marked(bench)).toEqual([])
})

test("a command is asked to end once, and its last words are heard", async () => {
  await using bench = await openBench({ graceMs: 20_000 })
  const command = `trap 'echo asked >> asked; sleep 0.2 && echo cleaned up; exit 0' TERM; echo begun; sleep 1000 & wait`
  const outcome = await bench.run({ command, timeout: 1500 }).catch((error: unknown) => String(error))
  expect(outcome).toContain("begun\n")
  expect(outcome).toContain("cleaned up\n")
  expect(await readFile(join(bench.space.root, "asked"), "utf8")).toBe("asked\n")
})

test("a process in the background that never stops talking does not hold the call", async () => {
  await using bench = await openBench()
  const text = await bench.run({ command: "while :; do echo noise; sleep 0.02; done & echo started" })
  expect(text).toContain("started\n")
  expect(text).toContain("[still running in the background:")
})

test("a long output of a command that ran out of time is kept, its end is told", async () => {
  await using bench = await openBench()
  const outcome = await bench
    .run({ command: "seq 1 2000; sleep 1000", timeout: 1500 })
    .catch((error: unknown) => String(error))
  const file = /the whole is in (\S+)\)/.exec(outcome)?.[1] ?? ""
  expect(outcome.endsWith("\n2000\n")).toBe(true)
  expect((await readFile(file, "utf8")).split("\n")).toHaveLength(2001)
})

test("an interrupt ends the group and those who left it", async () => {
  await using bench = await openBench()
  const interrupt = new AbortController()
  const file = join(bench.space.root, "pid")
  const running = bench.run(
    { command: `setsid sh -c 'echo $$ > ${file}; sleep 1000' & sleep 1000` },
    openScene({ signal: interrupt.signal }),
  )
  const outcome = running.catch((error: unknown) => error)
  const pid = await pidIn(file)
  interrupt.abort()
  expect(await outcome).toMatchObject({ code: "interrupted" })
  expect(await alive(pid)).toBe(false)
  expect(await marked(bench)).toEqual([])
})

test("a call that was interrupted before it began runs nothing", async () => {
  await using bench = await openBench()
  const scene = openScene({ signal: AbortSignal.abort() })
  await expect(bench.run({ command: "touch made" }, scene)).rejects.toMatchObject({ code: "interrupted" })
  expect(existsSync(join(bench.space.root, "made"))).toBe(false)
})

test("a process in the background does not hold the call, runs on, and ends with the engine", async () => {
  const bench = await openBench()
  const text = await bench.run({ command: "sleep 1000 & echo $!" })
  const pid = Number(text.split("\n")[0])
  expect(text).toContain("[still running in the background:")
  expect(await alive(pid)).toBe(true)
  await bench[Symbol.asyncDispose]()
  expect(await alive(pid)).toBe(false)
})

test("a background process that keeps writing is not blocked or killed by the end of the call", async () => {
  await using bench = await openBench()
  const file = join(bench.space.root, "done")
  await bench.run({ command: `(sleep 0.3; seq 1 100000; touch ${file}) & echo started` })
  await eventually(() => existsSync(file))
})

test("a strange PATH does not lose the output", async () => {
  await using bench = await openBench({ environment: { PATH: "/nowhere" } })
  expect(await bench.run({ command: "echo still here" })).toBe("still here\n\n[exit code 0]")
})

test("every process carries the call's mark", async () => {
  await using bench = await openBench({ scope: "/data/engine.sqlite" })
  const text = await bench.run(
    { command: "env | grep ^MERIDIAN_TOOL | sort" },
    openScene({ callID: "call:1" }),
  )
  expect(text).toContain("MERIDIAN_TOOL_CALL=ses_1:msg_1:call%3A1\n")
  expect(text).toContain("MERIDIAN_TOOL_SCOPE=%2Fdata%2Fengine.sqlite")
})

test("leftovers are found by the calls they belong to, and by no others", async () => {
  await using bench = await openBench({ scope: "one" })
  const text = await bench.run(
    { command: "env -i sleep 1000 & setsid sleep 1000 & echo $$" },
    openScene({ callID: "left" }),
  )
  expect(text).toContain("still running")
  const call = { sessionID: "ses_1", messageID: "msg_1", callID: "left" }
  expect(await endLeftovers({ calls: [] })).toBe(0)
  expect(await endLeftovers({ calls: [{ ...call, callID: "other" }], scope: "one" })).toBe(0)
  expect(await endLeftovers({ calls: [call], scope: "two" })).toBe(0)
  expect(await endLeftovers({ calls: [call], scope: "one" })).toBeGreaterThanOrEqual(1)
  expect(await marked(bench)).toEqual([])
})

test.each([
  [{ command: "" }, /empty/],
  [{ command: "a\0b" }, /NUL/],
  [{ command: "true", timeout: TOOL_LIMITS.bashLongestMs + 1 }, /whole number from 1 to 600000/],
  [{ command: "x".repeat(TOOL_LIMITS.commandBytes + 1) }, /at most/],
  [{ command: "é".repeat(TOOL_LIMITS.commandBytes - 1) }, /write a script file/],
])("a wrong input is refused (%#)", async (input, message) => {
  await using bench = await openBench()
  await expect(bench.run(input)).rejects.toThrow(message)
})

test("a command as long as the bound runs", async () => {
  await using bench = await openBench()
  const command = `: ${"x".repeat(TOOL_LIMITS.commandBytes - 2)}`
  expect(await bench.run({ command })).toContain("[exit code 0]")
})

test("many commands at once share one guard and all settle", async () => {
  await using bench = await openBench()
  const texts = await Promise.all(Array.from({ length: 12 }, (_, at) => bench.run({ command: `echo ${at}` })))
  expect(texts).toEqual(Array.from({ length: 12 }, (_, at) => `${at}\n\n[exit code 0]`))
})
