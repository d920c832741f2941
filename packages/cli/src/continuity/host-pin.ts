/**
 * What a hook of Claude Code or Codex puts back after a compaction: the ledger of its transcript and everything else
 * that is pinned. After any problem, the answer is a shorter text or none: a hook must not fail its host's turn.
 */
import { existsSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"

import {
  EMPTY_LEDGER,
  evaluateRules,
  ledgerPaths,
  openRuleShelf,
  promptPaths,
  readBranch,
  readPin,
  readProjects,
  readTranscript,
  ruleFolders,
  touchPaths,
  withNearPaths,
  type LedgerState,
  type Pin,
  type Place,
  type Rule,
} from "@meridian/continuity"

import { stateFolder } from "../sessions/harness-places.ts"
import type { HookInput } from "./hook-input.ts"
import { projectRoot } from "./project-root.ts"

export interface HostPinQuery {
  readonly host: "claude" | "codex"
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly input: HookInput | undefined
  readonly maxTokens?: number | undefined
}

export interface HostPin extends Pin {
  readonly ledger: LedgerState
}

export const pinForHost = async (query: HostPinQuery): Promise<HostPin> => {
  const { env, host, input } = query
  const place = placeOf(query)
  const transcript = ledgerForHost(query)
  const rules = rulesFor(place, env, transcript.ledger)
  const pin = await readPin({
    place,
    stateRoot: stateRootOf(place),
    ledger: transcript.ledger,
    environment: env,
    harnessSessionId: input?.session ?? "",
    rules: rules.active,
    head: "resume",
    canRecall: true,
    // Claude Code writes its summary only after this hook has ended.
    isSummaryKnown: host === "codex",
    ...(query.maxTokens === undefined ? {} : { maxTokens: query.maxTokens }),
  })
  const warnings = [...transcript.warnings, ...rules.warnings, ...pin.warnings]
  return { ...pin, warnings, ledger: transcript.ledger }
}

/** A folder with its own state counts alone; otherwise its project counts. */
export const stateRootOf = ({ root, directory }: Place): string =>
  ["SESSION.md", ".codex/specs", ".codex/bugs"].some((name) => existsSync(join(directory, name)))
    ? directory
    : root

const placeOf = ({ cwd, input }: HostPinQuery): Place => {
  const directory = resolve(input?.cwd ?? cwd)
  return { root: projectRoot(directory), directory }
}

/** The ledger of the host's own transcript. */
export const ledgerForHost = (
  query: HostPinQuery,
): { readonly ledger: LedgerState; readonly warnings: readonly string[] } => {
  const { env, input } = query
  if (input?.transcript === undefined) return { ledger: EMPTY_LEDGER, warnings: [] }
  const read = readTranscript({ path: input.transcript, folder: join(stateFolder(env), "transcripts") })
  if (read.kind === "refused")
    return { ledger: EMPTY_LEDGER, warnings: [`the transcript is not read: ${read.reason}`] }
  const isOurs =
    read.about.id === input.session ||
    basename(input.transcript).includes(input.session) ||
    (read.about.directory !== undefined && isInside(placeOf(query).root, read.about.directory))
  const { unknown } = read.ledger
  const skipped = unknown === 0 ? [] : [`transcript: ${unknown} calls of an unknown form were skipped`]
  return isOurs
    ? { ledger: read.ledger, warnings: [...read.warnings, ...skipped] }
    : { ledger: EMPTY_LEDGER, warnings: ["the transcript belongs to another session and is not used"] }
}

const isInside = (root: string, directory: string): boolean => {
  const path = relative(root, directory)
  return path === "" || !path.startsWith("..")
}

const rulesFor = (
  place: Place,
  env: HostPinQuery["env"],
  ledger: LedgerState,
): { readonly active: readonly Rule[]; readonly warnings: readonly string[] } => {
  const { rules, warnings } = openRuleShelf(() => ruleFolders(place, env)).read()
  if (rules.length === 0) return { active: [], warnings }
  const prompt = ledger.prompts.at(-1)?.text
  const { active } = evaluateRules(rules, {
    // A rule for a new file is needed before the file is written.
    paths: withNearPaths(touchPaths(ledgerPaths(ledger, place), promptPaths(prompt ?? ""), place), place),
    prompt,
    agent: ledger.agent,
    command: /^\/(\S+)/.exec(prompt ?? "")?.[1],
    projects: readProjects(place.root),
    branch: readBranch(place.root),
    os: process.platform,
  })
  return { active, warnings }
}
