/** What is known about a run when it is over, from its log, from what its model saw, and from the machine. */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import { openEngine, type SessionEvent } from "../packages/engine/dist/index.js"
import { DECLARED, type Probe } from "./model.ts"

export interface Measured {
  readonly events: number
  readonly turns: number
  /** Tool -> how often it was called. */
  readonly tools: ReadonlyMap<string, number>
  readonly calls: number
  readonly settled: number
  readonly interrupted: number
  readonly compactions: readonly {
    readonly before: number
    readonly after: number
    readonly messages: number
    /** Steps that the summariser was told about, and steps that it passed on. */
    readonly told: number
    readonly kept: number
  }[]
  readonly window: number
  /** Requests after a checkpoint, and how many of them showed each declared thing. */
  readonly requestsAfter: number
  readonly shown: Readonly<Record<(typeof DECLARED)[number], number>>
  /** The output of the killed command. */
  readonly commandWrote: string
  /** Processes that still work in the demo's folder; undefined where the machine does not tell. */
  readonly processes: number | undefined
  readonly statusAfterCrash: string
  readonly resumedWell: boolean
  readonly testsPass: boolean
  readonly seconds: number
}

export const measure = async (options: {
  readonly folder: string
  readonly directory: string
  readonly session: string
  readonly statusAfterCrash: string
  readonly resumedWell: boolean
  readonly started: number
}): Promise<Measured> => {
  const { folder, directory, session } = options
  const engine = await openEngine({
    database: `${folder}/engine.sqlite`,
    models: [{ id: "scripted/none", provider: "scripted", contextWindow: 8_000, maxOutput: 600 }],
    recover: false,
  })
  const events: SessionEvent[] = []
  for await (const event of engine.sessions.events({ sessionID: session })) events.push(event)
  const receipts = await engine.sessions.receipts(session)
  await engine.close()
  const probes = readProbes(`${folder}/probes.jsonl`)
  const summaries = probes.filter((probe) => probe.kind === "summary")
  const after = probes.filter((probe) => probe.kind === "turn").filter((probe) => probe.compacted)
  const called = events.filter((event) => event.type === "session.next.tool.called.1")
  const steps = events.filter((event) => event.type === "session.next.step.started.1")
  const failed = events.filter((event) => event.type === "session.next.tool.failed.1")
  const succeeded = events.filter((event) => event.type === "session.next.tool.success.1")
  const shown = (name: (typeof DECLARED)[number]): number => after.filter((probe) => probe.sees[name]).length
  return {
    events: events.length,
    turns: steps.length,
    tools: new Map(
      [...Map.groupBy(called, ({ data }) => data.tool)].map(([tool, each]) => [tool, each.length]),
    ),
    calls: called.length,
    settled: failed.length + succeeded.length,
    interrupted: failed.filter(({ data }) => data.error.code === "interrupted").length,
    compactions: receipts.flatMap(({ status, tokens, messages = 0 }, index) =>
      status !== "ended" || tokens === undefined
        ? []
        : [{ ...tokens, messages, told: summaries[index]?.told ?? 0, kept: summaries[index]?.kept ?? 0 }],
    ),
    window: steps[0]?.data.contextWindow ?? 0,
    requestsAfter: after.length,
    shown: {
      objective: shown("objective"),
      decision: shown("decision"),
      rule: shown("rule"),
      todo: shown("todo"),
    },
    commandWrote: readFileSync(join(directory, "check.log"), "utf8").trim(),
    processes: countProcesses(folder),
    statusAfterCrash: options.statusAfterCrash,
    resumedWell: options.resumedWell,
    // Not the result that the model was given: the tests are run once more, from outside.
    testsPass: spawnSync(process.execPath, ["test.js"], { cwd: directory }).status === 0,
    seconds: (performance.now() - options.started) / 1_000,
  }
}

/** Promises that were not kept. */
export const brokenPromises = (measured: Measured): readonly string[] => {
  const { compactions, requestsAfter, shown } = measured
  const promises: readonly (readonly [string, boolean])[] = [
    ["the session was interrupted by the crash, not lost", measured.statusAfterCrash === "interrupted"],
    ["the resumed process ended well", measured.resumedWell],
    ["it was compacted at least twice", compactions.length >= 2],
    ["every compaction made room", compactions.every(({ before, after }) => after < before)],
    [
      "the summariser forgot half",
      compactions.every(({ told, kept }) => told > 0 && kept <= Math.ceil(told / 2)),
    ],
    ["every call has one outcome", measured.calls > 0 && measured.calls === measured.settled],
    [
      "the killed command was reported once and not run again",
      measured.interrupted === 1 && measured.commandWrote === "started",
    ],
    ...DECLARED.map(
      (name) =>
        [
          `the ${name} stood in every request after a compaction`,
          requestsAfter > 0 && shown[name] === requestsAfter,
        ] as const,
    ),
    ["the task was finished", measured.testsPass],
    ["no process is left", measured.processes === undefined || measured.processes === 0],
    ["it took less than a minute", measured.seconds < 60],
  ]
  return promises.flatMap(([promise, isKept]) => (isKept ? [] : [promise]))
}

const readProbes = (file: string): readonly Probe[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line): Probe => JSON.parse(line))

/** Processes that work in the folder, or have it in their environment. */
const countProcesses = (folder: string): number | undefined => {
  let pids: readonly string[]
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  } catch {
    return undefined
  }
  return pids.filter((pid) => {
    try {
      return (
        readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) ||
        readFileSync(`/proc/${pid}/environ`, "latin1").includes(folder)
      )
    } catch {
      return false
    }
  }).length
}
