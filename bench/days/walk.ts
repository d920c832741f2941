/** Walks: one process after another, each killed with SIGKILL where the plan says, until the work is done. Then counts. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"

import type { Asked, Leg, Refused, Walk } from "./plan.ts"

export interface Walked {
  /** Its status in the end. */
  readonly status: string
  readonly hours: number
  readonly requests: number
  readonly compactions: number
  readonly limits: number
  readonly kills: number
  readonly tools: number
  readonly toolsTwice: number
  readonly beforeReset: number
  /** The longest delay, in milliseconds of the walk. */
  readonly delayMs: number
  /** First requests after a compaction, and how many of them contain the whole task. */
  readonly afterCompaction: number
  readonly withTask: number
}

const START_MS = Date.UTC(2026, 10, 20, 18)
const MINUTE = 60_000

export const takeWalk = async (walk: Walk): Promise<Walked> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-days-"))
  try {
    let nowMs = START_MS
    let boot = 1
    let status = ""
    for (const kill of [...walk.kills, undefined]) {
      const said = await goLeg({ walk, folder, nowMs, boot: `boot ${boot}`, kill })
      const [word = "", at = "", standing = ""] = said.split(" ")
      status = word === "here" ? "killed" : standing
      // It finished before the place where it should die.
      if (word !== "here") {
        nowMs = Number(at)
        break
      }
      nowMs = Number(at) + (kill?.downMinutes ?? 0) * MINUTE
      if (kill?.reboot === true) boot += 1
    }
    return count(folder, { status, nowMs, kills: walk.kills.length })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the last line of the process, which is dead then. */
const goLeg = async (leg: Leg): Promise<string> => {
  const child = spawn(
    process.execPath,
    ["--conditions=meridian-source", join(import.meta.dirname, "leg.entry.ts"), JSON.stringify(leg)],
    { stdio: ["ignore", "pipe", "inherit"] },
  )
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  let last = ""
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    if (line.startsWith("here")) child.kill("SIGKILL")
  }
  await ended
  if (last === "") throw new Error("a process of the walk ended without a word")
  return last
}

const count = (
  folder: string,
  { status, nowMs, kills }: { readonly status: string; readonly nowMs: number; readonly kills: number },
): Walked => {
  const read = (name: string): readonly string[] => {
    const file = join(folder, name)
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
  }
  const asked = read("requests.jsonl").map((line) => JSON.parse(line) as Asked)
  const refused = read("limits.jsonl").map((line) => JSON.parse(line) as Refused)
  const started = read("acts").filter((line) => line.startsWith("start "))
  const first = asked.filter(({ kind, afterCompaction }) => kind === "turn" && afterCompaction)
  const delays = refused.map(({ until }) => (asked.find(({ at }) => at >= until)?.at ?? Number.NaN) - until)
  return {
    status,
    hours: (nowMs - START_MS) / 3_600_000,
    requests: asked.length,
    compactions: compactionsIn(join(folder, "engine.sqlite")),
    limits: refused.length,
    kills,
    tools: started.length,
    toolsTwice: started.length - new Set(started).size,
    beforeReset: refused.reduce(
      (sum, limit) => sum + asked.filter(({ at }) => at > limit.at && at < limit.until).length,
      0,
    ),
    delayMs: Math.max(0, ...delays),
    afterCompaction: first.length,
    withTask: first.filter(({ hasTask }) => hasTask).length,
  }
}

const compactionsIn = (file: string): number => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const ended = database.prepare(
      "select count(*) as count from event where type like 'session.next.compaction.ended.%'",
    )
    return Number(ended.get()?.["count"])
  } finally {
    database.close()
  }
}
