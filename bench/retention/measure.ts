/**
 * Counts what is present in the first request after each compaction, over all rounds and seeds. Only presence is measured:
 * that the model sees a fact does not mean that it uses it.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { estimateTokens } from "@meridian/continuity"

import { type Host, openHost, type Request } from "./host.ts"
import { buildScenario, type Kind, type Round, ROUNDS } from "./scenario.ts"
import { FALSE_REQUEST, SUMMARISERS, type SummariserName } from "./summarisers.ts"

export const SEEDS = [1, 2, 3] as const
/** Requests after each compaction. The first is checked for facts, all for the pinned part. */
const REQUESTS = 4
/** Compactions of the unchanged conversation at the end. */
const UNCHANGED = 3

export const ARMS = {
  "host only": undefined,
  "brief in the prompt only": { pin: false },
  "ours (pinned)": {},
} as const satisfies Record<string, object | undefined>

export type ArmName = keyof typeof ARMS

export interface Count {
  present: number
  of: number
}

export interface Cell {
  readonly declared: Count
  readonly byKind: Readonly<Record<Kind, Count>>
  readonly onlySaid: Count
  /** Old values in a request that has no current statement of that fact. */
  stale: number
  readonly requestsWithPin: Count
  /** The largest brief for the summariser, and the largest text added to a main request. */
  briefTokens: number
  addedTokens: number
  /** Compactions of an unchanged conversation after which the plugin's text was different. */
  unstable: number
  /** First requests in which the summary claims something that the user never said. */
  invented: number
}

export type Result = Readonly<Record<ArmName, Readonly<Record<SummariserName, Cell>>>>

/** `root`: a separate folder, which is emptied before each replay. */
export const measure = async (root: string): Promise<Result> => {
  const measureArm = async (arm: ArmName): Promise<Result[ArmName]> => ({
    empty: await measureCell(root, arm, "empty"),
    recency: await measureCell(root, arm, "recency"),
    headline: await measureCell(root, arm, "headline"),
    "lossy 50 %": await measureCell(root, arm, "lossy 50 %"),
    adversarial: await measureCell(root, arm, "adversarial"),
    echo: await measureCell(root, arm, "echo"),
    failing: await measureCell(root, arm, "failing"),
  })
  return {
    "host only": await measureArm("host only"),
    "brief in the prompt only": await measureArm("brief in the prompt only"),
    "ours (pinned)": await measureArm("ours (pinned)"),
  }
}

const measureCell = async (root: string, arm: ArmName, name: SummariserName): Promise<Cell> => {
  const cell = emptyCell()
  for (const seed of SEEDS) await replay({ root, arm, name, seed, cell })
  return cell
}

const replay = async (run: {
  readonly root: string
  readonly arm: ArmName
  readonly name: SummariserName
  readonly seed: number
  readonly cell: Cell
}): Promise<void> => {
  const { root, arm, name, seed, cell } = run
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root, { recursive: true })
  const host = await openHost(root, ARMS[arm])
  for (const [index, round] of buildScenario(seed).entries()) {
    writeFiles(root, round)
    for (const message of round.messages) await host.say(message)
    const context = await host.compact(SUMMARISERS[name], seed * ROUNDS + index)
    cell.briefTokens = Math.max(cell.briefTokens, estimateTokens(context[0] ?? ""))
    const first = await host.request()
    probe(cell, round, first)
    countPin(cell, first)
    await goOn(host, cell)
  }
  await compactAgain(host, run)
}

/** Compacting an unchanged conversation must not change what is kept. */
const compactAgain = async (
  host: Host,
  { name, seed, cell }: { readonly name: SummariserName; readonly seed: number; readonly cell: Cell },
): Promise<void> => {
  // One more compaction handles what was said since the last round. From then on nothing is new.
  await host.compact(SUMMARISERS[name], seed * ROUNDS + ROUNDS)
  const before = (await host.request()).added.join("\n")
  for (let again = 1; again <= UNCHANGED; again += 1) {
    await host.compact(SUMMARISERS[name], seed * ROUNDS + ROUNDS + again)
    if ((await host.request()).added.join("\n") !== before) cell.unstable += 1
  }
}

const goOn = async (host: Host, cell: Cell): Promise<void> => {
  for (let request = 1; request < REQUESTS; request += 1) {
    await host.say({
      role: request === 2 ? "user" : "assistant",
      parts: [{ type: "text", text: "Going on." }],
    })
    countPin(cell, await host.request())
  }
}

const PINNED = "## Pinned Session State"

const countPin = ({ requestsWithPin }: Cell, { added }: Request): void => {
  requestsWithPin.of += 1
  if (added.some((text) => text.includes(PINNED))) requestsWithPin.present += 1
}

const probe = (cell: Cell, { current, outdated, onlySaid }: Round, { text, added }: Request): void => {
  for (const { kind, value } of current) {
    const isPresent = text.includes(value)
    count(cell.declared, isPresent)
    count(cell.byKind[kind], isPresent)
  }
  for (const value of onlySaid) count(cell.onlySaid, text.includes(value))
  const ours = added.join("\n")
  const isPinned = ours.includes(PINNED)
  for (const { value, newest } of outdated) {
    const isAnswered = newest === undefined ? isPinned : text.includes(newest)
    if (ours.includes(value) || (text.includes(value) && !isAnswered)) cell.stale += 1
  }
  cell.addedTokens = Math.max(cell.addedTokens, estimateTokens(ours))
  if (text.includes(FALSE_REQUEST)) cell.invented += 1
}

const count = (counted: Count, isPresent: boolean): void => {
  counted.of += 1
  if (isPresent) counted.present += 1
}

const writeFiles = (root: string, { files }: Round): void => {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    if (content === undefined) rmSync(file, { force: true })
    else writeFileSync(file, content.replaceAll("{root}", root))
  }
}

const emptyCount = (): Count => ({ present: 0, of: 0 })

const emptyCell = (): Cell => ({
  declared: emptyCount(),
  byKind: {
    objective: emptyCount(),
    stage: emptyCount(),
    "next action": emptyCount(),
    decision: emptyCount(),
    blocker: emptyCount(),
    rule: emptyCount(),
    file: emptyCount(),
    skill: emptyCount(),
  },
  onlySaid: emptyCount(),
  stale: 0,
  requestsWithPin: emptyCount(),
  briefTokens: 0,
  addedTokens: 0,
  unstable: 0,
  invented: 0,
})
