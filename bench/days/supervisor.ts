/** What a supervisor costs that only waits: with one run that waits for a limit, beside runs that have ended. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"

export interface Idle {
  readonly megabytes: number
  /** Share of one processor, in percent. */
  readonly cpu: number
}

const WARM_UP_MS = 5_000

export const measureSupervisor = async (forMs: number, endedRuns: number): Promise<Idle | undefined> => {
  if (process.platform !== "linux") return undefined
  const folder = mkdtempSync(join(tmpdir(), "meridian-days-"))
  writeState(folder, endedRuns)
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "../../packages/cli/dist/meridian.js"), "run", "supervise", "--stay"],
    {
      cwd: folder,
      env: { PATH: "/usr/bin:/bin", HOME: folder, MERIDIAN_REPO_ROOT: folder },
      stdio: "ignore",
    },
  )
  try {
    const { pid = 0 } = child
    const lock = join(folder, ".meridian/.spaces/supervisor.lock")
    while (!existsSync(lock) && child.exitCode === null) await pause(50)
    await pause(WARM_UP_MS)
    const [from, before] = [performance.now(), cpuMs(pid)]
    await pause(forMs)
    const cpu = ((cpuMs(pid) - before) / (performance.now() - from)) * 100
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    return { cpu, megabytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024 }
  } finally {
    child.kill("SIGTERM")
    await new Promise((resolve) => (child.exitCode === null ? child.once("close", resolve) : resolve(0)))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** For all its threads, as the scheduler counts it. */
const cpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6,
    0,
  )

const writeState = (folder: string, endedRuns: number): void => {
  const space = join(folder, ".meridian/.spaces/s1")
  for (const name of ["runs", "sessions", "fs"]) mkdirSync(join(space, name), { recursive: true })
  const line = (value: object): string => `${JSON.stringify({ v: 2, ...value })}\n`
  const started = new Date().toISOString()
  writeFileSync(
    join(space, "space.json"),
    line({
      schema_version: 1,
      id: "s1",
      name: null,
      status: "active",
      started_at: started,
      finished_at: null,
    }),
  )
  const start = (id: string): string =>
    line({
      event: "start",
      id,
      status: "running",
      depth: 0,
      model: "",
      harness: "claude",
      skills: [],
      skill_paths: [],
      started_at: started,
      task: "wait",
    })
  const ended = Array.from(
    { length: endedRuns },
    (_, index) =>
      start(`r${index + 1}`) +
      line({
        event: "finalize",
        id: `r${index + 1}`,
        status: "succeeded",
        exit_code: 0,
        finished_at: started,
        by: "worker",
      }),
  )
  const until = new Date(Date.now() + 86_400_000).toISOString()
  const id = `r${endedRuns + 1}`
  const waits =
    start(id) + line({ event: "update", id, status: "waiting", waiting_for: "limit", waiting_until: until })
  writeFileSync(join(space, "runs.jsonl"), ended.join("") + waits)
}
