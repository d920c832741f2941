/** The shipped command with a pretend Claude in a new folder, and signals for every process it started. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

import { installPretendHarness, type PretendBehaviour, type PretendHarness } from "@meridian/testkit"
import { onTestFinished } from "vitest"

import { document, emptyFolder, meridian, SEARCH_PATH, type Ran } from "../e2e/cli-binary.ts"
import { processesOf } from "./spaces.ts"

export interface Wish extends PretendBehaviour {
  /** The harness never answers. */
  readonly hold?: boolean
  readonly env?: Readonly<Record<string, string>>
}

export interface OutlivingScene {
  readonly home: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  readonly claude: PretendHarness
  readonly run: (...words: readonly string[]) => Promise<Ran>
  readonly show: () => Promise<Readonly<Record<string, unknown>>>
  /** The last status in the log of runs. Reading it has no side effects. */
  readonly status: () => string
  /** Signals every process of this scene whose command line contains `part`. */
  readonly kill: (part: string, signal?: NodeJS.Signals) => number
  /** The number of such processes. */
  readonly count: (part: string) => number
}

export const openOutliving = ({ hold = false, env: more = {}, ...behaviour }: Wish = {}): OutlivingScene => {
  const home = emptyFolder("outlive ")
  const [project, bin] = [join(home, "project"), join(home, "bin")]
  mkdirSync(join(project, ".git"), { recursive: true })
  const claude = installPretendHarness(bin, {
    as: "claude",
    behaviour: hold ? { ...behaviour, release: join(home, "never") } : behaviour,
  })
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`,
    HOME: home,
    MERIDIAN_REPO_ROOT: project,
    MERIDIAN_SUPERVISOR: "on",
    MERIDIAN_RETRY_BACKOFF_SECONDS: "0.05",
    ...more,
  }
  const run = (...words: readonly string[]): Promise<Ran> => meridian(words, { cwd: project, env })
  const find = (part: string): readonly number[] =>
    processesOf(home).filter((pid) => commandOf(pid).includes(part))
  const kill = (part: string, by: NodeJS.Signals = "SIGKILL"): number => {
    const found = find(part)
    for (const pid of found) signal(pid, by)
    return found.length
  }
  onTestFinished(() => {
    // A supervisor may have started another just before it was killed.
    for (let round = 0; round < 100 && kill("") > 0; round += 1);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return {
    home,
    project,
    env,
    claude,
    run,
    kill,
    count: (part) => find(part).length,
    status: () => {
      const log = join(project, ".meridian/.spaces/s1/runs.jsonl")
      const told = existsSync(log) ? [...readFileSync(log, "utf8").matchAll(/"status":"(\w+)"/g)] : []
      return told.at(-1)?.[1] ?? ""
    },
    show: async () => {
      const told = document(await run("run", "show", "r1", "--space", "s1", "--json"))
      return Object.fromEntries(Object.entries(told ?? {}))
    },
  }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

const signal = (pid: number, by: NodeJS.Signals): void => {
  try {
    process.kill(pid, by)
  } catch {
    // The process is already gone.
  }
}

/** Waits for another process. The test's time limit ends a wait that never succeeds. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50))
}

export const ended = async (
  scene: OutlivingScene,
  status = "succeeded",
): Promise<Readonly<Record<string, unknown>>> => {
  await until(() => scene.status() === status)
  return await scene.show()
}

/** No process is left to record the loss. The next command records it. */
export const lost = async (scene: OutlivingScene): Promise<Readonly<Record<string, unknown>>> => {
  for (;;) {
    const shown = await scene.show()
    if (shown["status"] === "failed") return shown
  }
}

export const SAID = JSON.stringify({
  type: "assistant",
  parent_tool_use_id: null,
  message: { role: "assistant", content: [{ type: "text", text: "I have begun." }] },
})

export const beginnings = (shown: Readonly<Record<string, unknown>>): readonly string[] =>
  [...JSON.stringify(shown["attempts"]).matchAll(/"began":"([^"]+)"/g)].map(([, time = ""]) => time)

export const attempts = (shown: Readonly<Record<string, unknown>>): unknown => shown["attempts"]

/** A background run that has said something and is now at work. */
export const begun = async (scene: OutlivingScene, { isSpawned = false } = {}): Promise<void> => {
  if (!isSpawned) await scene.run("run", "spawn", "--background", "-p", "build the parser")
  await spoken(scene)
}

export const spoken = async (scene: OutlivingScene): Promise<void> => {
  const events = join(scene.project, ".meridian/.spaces/s1/runs/r1/events.jsonl")
  await until(() => existsSync(events) && readFileSync(events, "utf8").includes("I have begun"))
}
