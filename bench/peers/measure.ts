/** Takes one program through every kind of work. Each figure is the program's time minus the time the provider needed. */
import { median, PROMPT, temporaryFolder } from "../engine/scene.ts"
import { killInTools, type KillCounts } from "./kills.ts"
import { startProgram, type Program, type ProgramOptions } from "./program.ts"
import type { Provider } from "./provider.ts"

export interface Size {
  /** Uncounted turns before the counted ones. */
  readonly warmUp: number
  readonly turns: number
  /** Turns of the long session. */
  readonly growth: number
  /** Turns of each of the 64 sessions. */
  readonly many: number
  readonly kills: number
}

export interface Figures {
  /** Median overhead of one turn, in milliseconds. */
  readonly text: number
  readonly tool: number
  /** Mean of a text and a tool turn at the end of the long session. */
  readonly grown: number
  /** Turns per second of 64 sessions at once, the provider's time included. */
  readonly many: number
  /** Undefined for the floor, which has no recovery. */
  readonly kills: KillCounts | undefined
}

type Kind = "text" | "tool"

export const measureProgram = async (options: {
  readonly place: Omit<ProgramOptions, "folder" | "address" | "marks">
  readonly provider: Provider
  readonly size: Size
}): Promise<Figures> => {
  const { provider, size } = options
  const folder = temporaryFolder()
  const place = { ...options.place, address: provider.address, folder: folder.path }
  try {
    const turns = await measureTurns(place, provider, size)
    const kills =
      place.name === "floor" ? undefined : await killInTools({ place, provider, kills: size.kills })
    return { ...turns, kills }
  } finally {
    folder.remove()
  }
}

const measureTurns = async (
  place: ProgramOptions,
  provider: Provider,
  size: Size,
): Promise<Omit<Figures, "kills">> => {
  const program = await startProgram(place)
  try {
    const text = median((await overheads(program, provider, "text", size)).slice(size.warmUp))
    const tool = median((await overheads(program, provider, "tool", size)).slice(size.warmUp))
    const grown = await grow(program, provider, size.growth)
    const ms = await program.ask({ verb: "many", text: PROMPT.text, turns: size.many })
    await provider.held()
    await program.close()
    return { text, tool, grown, many: (64 * size.many * 1_000) / ms }
  } finally {
    await program.kill()
  }
}

const overheads = async (
  program: Program,
  provider: Provider,
  kind: Kind,
  { warmUp, turns }: Size,
): Promise<readonly number[]> => {
  const values: number[] = []
  for (let turn = 0; turn < warmUp + turns; turn += 1)
    values.push(await overhead(program, provider, { kind, session: kind }))
  return values
}

const LAST_TURNS = 10

const grow = async (program: Program, provider: Provider, turns: number): Promise<number> => {
  const values = { text: [] as number[], tool: [] as number[] }
  for (let turn = 0; turn < turns; turn += 1) {
    const kind = turn % 2 === 0 ? "text" : "tool"
    values[kind].push(await overhead(program, provider, { kind, session: "grown" }))
  }
  return (median(values.text.slice(-LAST_TURNS)) + median(values.tool.slice(-LAST_TURNS))) / 2
}

const overhead = async (
  program: Program,
  provider: Provider,
  { kind, session }: { readonly kind: Kind; readonly session: string },
): Promise<number> => {
  const ms = await program.ask({ verb: "turn", session, text: PROMPT[kind] })
  const held = await provider.held()
  return ms - held.reduce((sum, value) => sum + value, 0)
}
