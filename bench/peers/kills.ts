/**
 * Kills a program at moments spread over a turn with a tool, restarts it and asks it once to continue. What counts is what
 * the next model call knows.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { startProgram, type ProgramOptions } from "./program.ts"
import type { Provider } from "./provider.ts"

export interface KillCounts {
  /** The next model call does not contain the prompt. */
  readonly lost: number
  /** The tool had started before the kill, and started again. */
  readonly twice: number
  /** The tool had started, and the next model call does not mention it. */
  readonly untold: number
}

export const killInTools = async (options: {
  readonly place: ProgramOptions
  readonly provider: Provider
  readonly kills: number
}): Promise<KillCounts> => {
  const { place, provider, kills } = options
  const counts = { lost: 0, twice: 0, untold: 0 }
  const whole = await turnMs(place, provider)
  for (let kill = 0; kill < kills; kill += 1) {
    const outcome = await killOnce(place, provider, { number: kill, afterMs: (whole * (kill + 0.5)) / kills })
    if (outcome.lost) counts.lost += 1
    if (outcome.twice) counts.twice += 1
    if (outcome.untold) counts.untold += 1
  }
  return counts
}

/** How long such a turn takes here, so that the kills cover all of it. */
const turnMs = async (place: ProgramOptions, provider: Provider): Promise<number> => {
  const folder = fresh(place, "kill-time")
  const program = await startProgram({ ...place, folder, marks: join(folder, "marks") })
  await program.ask({ verb: "turn", session: "k", text: "use the tool to warm up" })
  const ms = await program.ask({ verb: "turn", session: "k", text: "use the tool once more" })
  await program.close()
  await provider.held()
  return ms
}

const killOnce = async (
  place: ProgramOptions,
  provider: Provider,
  { number, afterMs }: { readonly number: number; readonly afterMs: number },
): Promise<{ readonly lost: boolean; readonly twice: boolean; readonly untold: boolean }> => {
  const folder = fresh(place, `kill-${number}`)
  const marks = join(folder, "marks")
  const options = { ...place, folder, marks }
  const prompt = `use the tool for kill number ${number}.`
  const first = await startProgram(options)
  await first.ask({ verb: "turn", session: "k", text: "say hello" })
  const turn = first.ask({ verb: "turn", session: "k", text: prompt }).catch(() => 0)
  await sleep(afterMs)
  await first.kill()
  await turn
  const before = started(marks)
  const second = await startProgram(options)
  await second.ask({ verb: "resume", session: "k" }).catch(() => 0)
  await second.close()
  const { last } = await provider.seen()
  await provider.held()
  const told = JSON.stringify(last)
  const knowsCall = told.includes('"role":"tool"') || told.includes("tool_calls")
  return {
    lost: !told.includes(prompt),
    twice: before > 0 && started(marks) > before,
    untold: before > 0 && !knowsCall,
  }
}

const started = (marks: string): number =>
  existsSync(marks) ? readFileSync(marks, "utf8").split("start").length - 1 : 0

const fresh = ({ folder }: ProgramOptions, name: string): string => {
  const path = join(folder, name)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  return path
}
