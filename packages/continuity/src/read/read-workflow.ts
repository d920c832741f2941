/** Finds the folder of the active workflow under `.codex` and reads its artifacts. */
import type { SessionState } from "../domain/session/session-state.ts"
import { decideStage } from "../domain/workflow/infer-stage.ts"
import type { WorkFolder } from "../domain/workflow/moved-work.ts"
import {
  findMentions,
  type FolderCandidate,
  type Mentions,
  rankFolders,
} from "../domain/workflow/rank-folders.ts"
import type { StageHint } from "../domain/workflow/stage-hint.ts"
import {
  type ArtifactName,
  type Artifacts,
  ARTIFACTS_OF,
  BUG_STAGES,
  type Document,
  documentOf,
  FOLDER_OF,
  kindOf,
  openDocument,
  pathOf,
  SPEC_STAGES,
  type WorkflowKind,
} from "../domain/workflow/stage.ts"
import { readTaskList } from "../domain/workflow/task-list.ts"
import type { ActiveWorkflow } from "../domain/workflow/workflow-facts.ts"
import type { GuardedReader } from "./guarded-reader.ts"

export interface WorkflowSearch {
  readonly reader: GuardedReader
  readonly session: SessionState
  readonly hint: StageHint | undefined
  /** Where the tools have worked since the log was written, last first. */
  readonly touched: readonly WorkFolder[]
  readonly warn: (warning: string) => void
}

/** Folders whose time is checked, and how many of them have their artifacts checked. */
const MAX_LOOKED_AT = 512
const MAX_CANDIDATES = 64
/** How many folders have their artifacts read until one is active. */
const MAX_ATTEMPTS = 8

export const readWorkflow = (given: WorkflowSearch): ActiveWorkflow | undefined => {
  const { session } = given
  const names = { spec: listNames(given, "spec"), bug: listNames(given, "bug") }
  if (names.spec.length === 0 && names.bug.length === 0) return undefined
  const hint = settleHint(given.hint, names)
  // The log mentions both workflows, and both exist, so it is unclear which is meant.
  if (hint?.tag === "between") return undefined
  const search = { ...given, hint }
  const mentions = findMentions(session.scopes)
  for (const kind of kindOrder(search, names, mentions)) {
    const candidates = findCandidates(search, kind, names[kind], mentions)
    for (const candidate of rankFolders(candidates, mentions).slice(0, MAX_ATTEMPTS)) {
      const active = readActive(search, candidate)
      const isNamed = mentions.named(candidate.name) !== undefined
      if (active !== undefined && (isNamed || !isFinished(active) || isWithoutWork(session))) return active
    }
  }
  return undefined
}

/**
 * First the kind that the session names as its stage or points at, or where the tools worked; otherwise spec before bug.
 */
const kindOrder = (
  { hint, touched }: WorkflowSearch,
  names: Readonly<Record<WorkflowKind, readonly string[]>>,
  { pointedAt }: Mentions,
): readonly WorkflowKind[] => {
  const isPointedAt = (kind: WorkflowKind): boolean => names[kind].some((name) => pointedAt(kind, name) === 0)
  const hinted = hint === undefined ? undefined : kindOfHint(hint)
  const pointed = isPointedAt("spec") ? "spec" : isPointedAt("bug") ? "bug" : undefined
  const kind = hinted ?? pointed ?? touched.find(({ kind: each, name }) => names[each].includes(name))?.kind
  return kind === "bug" ? ["bug", "spec"] : ["spec", "bug"]
}

const kindOfHint = (hint: StageHint): WorkflowKind | undefined => {
  switch (hint.tag) {
    case "stage":
      return kindOf(hint.stage)
    case "undecided":
      return hint.kind
    case "between":
      return undefined
  }
}

/** Of two mentioned workflows one may have no folder. Then the other is meant. */
const settleHint = (
  hint: StageHint | undefined,
  names: Readonly<Record<WorkflowKind, readonly string[]>>,
): StageHint | undefined => {
  if (hint?.tag !== "between") return hint
  const [only, ...others] = hint.seen.filter((stage) => names[kindOf(stage)].length > 0)
  if (only === undefined) return undefined
  const kinds = new Set([only, ...others].map(kindOf))
  if (kinds.size > 1) return hint
  return others.length === 0
    ? { tag: "stage", stage: only, isOrdered: false, isCurrent: true }
    : { tag: "undecided", kind: kindOf(only) }
}

/** Real folders, without links and archived ones. */
const listNames = ({ reader, warn }: WorkflowSearch, kind: WorkflowKind): readonly string[] => {
  const listing = reader.list(FOLDER_OF[kind])
  if (listing.kind === "refused") warn(`${FOLDER_OF[kind]}: ${listing.reason}`)
  if (listing.kind !== "entries") return []
  const names = listing.entries
    .filter(({ name, type }) => type === "folder" && name !== "attic" && !name.startsWith("."))
    .map(({ name }) => name)
  if (listing.truncated || names.length > MAX_CANDIDATES)
    warn(`${FOLDER_OF[kind]}: more folders than are checked (${MAX_CANDIDATES})`)
  return names
}

/** When there are too many: those that the session names; if none, the last changed among the last by name. */
const findCandidates = (
  { reader, touched }: WorkflowSearch,
  kind: WorkflowKind,
  names: readonly string[],
  { named }: Mentions,
): readonly FolderCandidate[] => {
  const isTouched = (name: string): boolean => touchedAt(touched, kind, name) !== undefined
  const known =
    names.length <= MAX_CANDIDATES
      ? names
      : names.filter((name) => named(name) !== undefined || isTouched(name))
  const chosen = known.length > 0 ? known.slice(-MAX_CANDIDATES) : changedLast(reader, kind, names)
  return untilHurried(reader, chosen, (name) => {
    const place = touchedAt(touched, kind, name)
    const candidate = describe(reader, kind, name)
    return place === undefined ? candidate : { ...candidate, touched: place }
  })
}

const touchedAt = (touched: readonly WorkFolder[], kind: WorkflowKind, name: string): number | undefined => {
  const at = touched.findIndex((folder) => folder.kind === kind && folder.name === name)
  return at === -1 ? undefined : at
}

const changedLast = (
  reader: GuardedReader,
  kind: WorkflowKind,
  names: readonly string[],
): readonly string[] =>
  untilHurried(reader, names.slice(-MAX_LOOKED_AT).toReversed(), (name) => {
    const seen = reader.look(`${FOLDER_OF[kind]}/${name}`)
    return { name, modifiedMs: seen.kind === "folder" ? seen.modifiedMs : 0 }
  })
    .toSorted((left, right) => right.modifiedMs - left.modifiedMs)
    .slice(0, MAX_CANDIDATES)
    .map(({ name }) => name)

/** At least the first, and as many more as there is time for: what is found must still be read. */
const untilHurried = <Value>(
  reader: GuardedReader,
  names: readonly string[],
  act: (name: string) => Value,
): readonly Value[] => {
  const values: Value[] = []
  for (const name of names) {
    values.push(act(name))
    if (reader.isHurried()) break
  }
  return values
}

const describe = (reader: GuardedReader, kind: WorkflowKind, name: string): FolderCandidate => {
  const files = new Set<string>()
  let modifiedMs = 0
  for (const file of ARTIFACTS_OF[kind]) {
    const seen = reader.look(`${FOLDER_OF[kind]}/${name}/${file}`)
    if (seen.kind !== "file") continue
    modifiedMs = Math.max(modifiedMs, seen.modifiedMs)
    if (seen.bytes > 0) files.add(file)
  }
  return { kind, name, modifiedMs, files }
}

/** Notes grow at the end, so of long ones both ends are read. */
const PART_OF: Readonly<Partial<Record<ArtifactName, "ends">>> = {
  "context.md": "ends",
  "harness/progress.md": "ends",
}

const readActive = (
  { reader, hint, warn }: WorkflowSearch,
  { kind, name }: FolderCandidate,
): ActiveWorkflow | undefined => {
  const files: Partial<Record<ArtifactName, Document>> = {}
  const artifacts: Artifacts = { kind, name, files }
  for (const file of ARTIFACTS_OF[kind]) {
    const path = pathOf(artifacts, file)
    const outcome = reader.read(path, { part: PART_OF[file] ?? "head" })
    if (outcome.kind === "text") files[file] = openDocument(outcome.text, outcome.truncated)
    if (outcome.kind === "text" && outcome.truncated) warn(`${path}: too large, only a part was read`)
    if (outcome.kind === "refused") warn(`${path}: ${outcome.reason}`)
  }
  const stage = decideStage(artifacts, hint)
  const specStage = SPEC_STAGES.find((each) => each === stage)
  const bugStage = BUG_STAGES.find((each) => each === stage)
  if (specStage !== undefined) return { kind: "spec", stage: specStage, artifacts }
  return bugStage === undefined ? undefined : { kind: "bug", stage: bugStage, artifacts }
}

/** Everything is checked off. A session that works on something else has left it behind. */
const isFinished = ({ artifacts }: ActiveWorkflow): boolean => {
  const tasks = documentOf(artifacts, "tasks.md")
  const { done, open } = readTaskList(tasks)
  return !tasks.isCut && done.length > 0 && open.length === 0
}

const isWithoutWork = ({ focus, openWork }: SessionState): boolean =>
  focus === undefined && openWork.length === 0
