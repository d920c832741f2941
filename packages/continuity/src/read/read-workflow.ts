/** Looks for the folder of the active workflow under `.codex`, and reads its artifacts. */
import type { SessionState } from "../domain/session/session-state.ts"
import { decideStage } from "../domain/workflow/infer-stage.ts"
import { findMentions, type FolderCandidate, rankFolders } from "../domain/workflow/rank-folders.ts"
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
  readonly warn: (warning: string) => void
}

/** Folders whose time is looked at, and of those the ones whose artifacts are. */
const MAX_LOOKED_AT = 512
const MAX_CANDIDATES = 64
/** Folders whose artifacts are read until one is active. */
const MAX_ATTEMPTS = 8

export const readWorkflow = (search: WorkflowSearch): ActiveWorkflow | undefined => {
  const { session, hint } = search
  const names = { spec: listNames(search, "spec"), bug: listNames(search, "bug") }
  if (names.spec.length === 0 && names.bug.length === 0) return undefined
  const mentions = findMentions(session.scopes)
  const rank = (kind: WorkflowKind): readonly FolderCandidate[] =>
    rankFolders(
      chooseNames(search, kind, names[kind], mentions.named).map((name) =>
        describe(search.reader, kind, name),
      ),
      mentions,
    )
  const ranked = new Map([["spec", rank("spec")] as const, ["bug", rank("bug")] as const])
  for (const kind of kindOrder(ranked, hint, (each) => mentions.pointedAt(each.kind, each.name) === 0)) {
    for (const candidate of (ranked.get(kind) ?? []).slice(0, MAX_ATTEMPTS)) {
      const active = readActive(search, candidate)
      const isNamed = mentions.named(candidate.name) !== undefined
      if (active !== undefined && (isNamed || !isFinished(active) || isWithoutWork(session))) return active
    }
  }
  return undefined
}

/** The kind the session points at or names as its stage; else spec before bug. */
const kindOrder = (
  ranked: ReadonlyMap<WorkflowKind, readonly FolderCandidate[]>,
  hint: StageHint | undefined,
  isPointedAt: (candidate: FolderCandidate) => boolean,
): readonly WorkflowKind[] => {
  if (hint !== undefined) return kindOf(hint.stage) === "spec" ? ["spec", "bug"] : ["bug", "spec"]
  const [spec] = ranked.get("spec") ?? []
  const [bug] = ranked.get("bug") ?? []
  const bugOnly = bug !== undefined && isPointedAt(bug) && !(spec !== undefined && isPointedAt(spec))
  return bugOnly ? ["bug", "spec"] : ["spec", "bug"]
}

/** Real folders, not links, not those set aside. */
const listNames = ({ reader, warn }: WorkflowSearch, kind: WorkflowKind): readonly string[] => {
  const listing = reader.list(FOLDER_OF[kind])
  if (listing.kind === "refused") warn(`${FOLDER_OF[kind]}: ${listing.reason}`)
  if (listing.kind !== "entries") return []
  const names = listing.entries
    .filter(({ name, type }) => type === "folder" && name !== "attic" && !name.startsWith("."))
    .map(({ name }) => name)
  if (listing.truncated || names.length > MAX_CANDIDATES)
    warn(`${FOLDER_OF[kind]}: more folders than are looked at (${MAX_CANDIDATES})`)
  return names
}

/** Of too many: those the session names; if it names none, those changed last among the last by name. */
const chooseNames = (
  { reader }: WorkflowSearch,
  kind: WorkflowKind,
  names: readonly string[],
  named: (name: string) => number | undefined,
): readonly string[] => {
  if (names.length <= MAX_CANDIDATES) return names
  const known = names.filter((name) => named(name) !== undefined)
  if (known.length > 0) return known.slice(-MAX_CANDIDATES)
  return names
    .slice(-MAX_LOOKED_AT)
    .map((name) => {
      const seen = reader.look(`${FOLDER_OF[kind]}/${name}`)
      return { name, modifiedMs: seen.kind === "folder" ? seen.modifiedMs : 0 }
    })
    .toSorted((left, right) => right.modifiedMs - left.modifiedMs)
    .slice(0, MAX_CANDIDATES)
    .map(({ name }) => name)
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

const readActive = (
  { reader, hint, warn }: WorkflowSearch,
  { kind, name }: FolderCandidate,
): ActiveWorkflow | undefined => {
  const files: Partial<Record<ArtifactName, Document>> = {}
  const artifacts: Artifacts = { kind, name, files }
  for (const file of ARTIFACTS_OF[kind]) {
    const path = pathOf(artifacts, file)
    const outcome = reader.read(path)
    if (outcome.kind === "text") files[file] = openDocument(outcome.text)
    if (outcome.kind === "refused") warn(`${path}: ${outcome.reason}`)
  }
  const stage = decideStage(artifacts, hint)
  const specStage = SPEC_STAGES.find((each) => each === stage)
  const bugStage = BUG_STAGES.find((each) => each === stage)
  if (specStage !== undefined) return { kind: "spec", stage: specStage, artifacts }
  return bugStage === undefined ? undefined : { kind: "bug", stage: bugStage, artifacts }
}

/** Everything is checked off: a session that works on something else has left it behind. */
const isFinished = ({ artifacts }: ActiveWorkflow): boolean => {
  const { done, open } = readTaskList(documentOf(artifacts, "tasks.md"))
  return done.length > 0 && open.length === 0
}

const isWithoutWork = ({ focus, openWork }: SessionState): boolean =>
  focus === undefined && openWork.length === 0
