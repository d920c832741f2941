/**
 * Ranks the folders of a workflow by how likely the session is about them: first the one that its newest entry names by
 * path or command, then one that is named at all (as a whole word: `auth` is not `auth-v2`), then the one where the tools
 * last worked, then the most advanced one, then the last edited one.
 */
import { FOLDER_OF, type WorkflowKind } from "./stage.ts"

export interface FolderCandidate {
  readonly kind: WorkflowKind
  readonly name: string
  /** The time of its newest artifact. */
  readonly modifiedMs: number
  /** Artifacts that are not empty. */
  readonly files: ReadonlySet<string>
  /** How recently the tools worked there: 0 is the last; undefined when they did not. */
  readonly touched?: number
}

export interface Mentions {
  /** The age of the scope that points at it: 0 is current; undefined when there is none. */
  readonly pointedAt: (kind: WorkflowKind, name: string) => number | undefined
  readonly named: (name: string) => number | undefined
}

export const findMentions = (scopes: readonly (readonly string[])[]): Mentions => {
  const pointed = new Map<string, number>()
  const named = new Map<string, number>()
  const note = (ages: Map<string, number>, key: string, age: number): void => {
    if (!ages.has(key)) ages.set(key, age)
  }
  for (const [age, lines] of scopes.entries())
    for (const line of lines.toReversed()) {
      for (const [key, name] of pointers(line)) note(pointed, `${key}/${name}`, age)
      for (const word of line.split(NOT_A_NAME)) note(named, withoutStops(word), age)
    }
  return {
    pointedAt: (kind, name) => pointed.get(`${kind}/${name}`),
    named: (name) => named.get(name),
  }
}

/** Best first. */
export const rankFolders = (
  candidates: readonly FolderCandidate[],
  { pointedAt, named }: Mentions,
): readonly FolderCandidate[] => {
  const keyed = candidates.map((candidate) => ({
    candidate,
    keys: [
      pointedAt(candidate.kind, candidate.name) ?? Number.MAX_SAFE_INTEGER,
      named(candidate.name) ?? Number.MAX_SAFE_INTEGER,
      candidate.touched ?? Number.MAX_SAFE_INTEGER,
      -progressOf(candidate),
      -candidate.modifiedMs,
    ],
  }))
  return keyed
    .toSorted(
      (left, right) =>
        compareKeys(left.keys, right.keys) || (left.candidate.name < right.candidate.name ? -1 : 1),
    )
    .map(({ candidate }) => candidate)
}

const NOT_A_NAME = /[\s`'"()[\]{},;:/\\<>|*]+/

/** `.codex/specs/<name>` and `/spec-execute [next | batch N] <name>`. */
const pointers = (line: string): readonly (readonly [kind: WorkflowKind, name: string])[] => {
  if (!line.includes(".codex/") && !line.includes("/spec-") && !line.includes("/bug-")) return []
  const paths = (["spec", "bug"] as const).flatMap((kind) =>
    line
      .split(`${FOLDER_OF[kind]}/`)
      .slice(1)
      .map((rest) => [kind, withoutStops(rest.split(NOT_A_NAME, 1)[0] ?? "")] as const),
  )
  const commands = [...line.matchAll(COMMAND)].flatMap(({ 1: kind, 2: name }) =>
    (kind === "spec" || kind === "bug") && name !== undefined ? [[kind, withoutStops(name)] as const] : [],
  )
  return [...paths, ...commands]
}

const COMMAND =
  /\/(spec|bug)-(?:create|design|tasks|execute|analyze|fix|verify) (?:next |batch \d{1,6} )?([^\s`'"()[\],;:]{1,255})/g

const withoutStops = (word: string): string => {
  let end = word.length
  while (end > 0 && ".!?".includes(word[end - 1] ?? "")) end -= 1
  return word.slice(0, end)
}

const progressOf = ({ files }: FolderCandidate): number =>
  (files.has("tasks.md") || files.has("analysis.md") ? 2 : 0) +
  (files.has("context.md") || files.has("verification.md") ? 1 : 0)

const compareKeys = (left: readonly number[], right: readonly number[]): number => {
  const at = left.findIndex((key, index) => key !== right[index])
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}
