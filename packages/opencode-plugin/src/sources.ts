/**
 * The files a brief was made from, with the time and size of each, as one text that can be compared. One look a file:
 * the brief itself is made again only when something moved.
 */
import { openGuardedReader, openReadBudget, type Brief } from "@meridian/continuity"

/** Always watched: a file or folder that appears is a change as well. */
const WATCHED = ["SESSION.md", "AGENTS.md", ".codex/specs", ".codex/bugs"] as const

/** Of the specs and bugs that a brief speaks of: all they can be made of, also what was empty or absent when it was read. */
const ARTIFACT_FOLDER = /^\.codex\/(?:specs|bugs)\/[^/]+/
const ARTIFACTS = [
  "requirements.md",
  "design.md",
  "tasks.md",
  "context.md",
  "report.md",
  "analysis.md",
  "verification.md",
  "harness/feature_list.json",
  "harness/progress.md",
  "harness/bug_state.json",
] as const
const SOURCES_LIMIT = 100

export const lookAtSources = (root: string, brief: Brief): string => {
  const named = brief.facts.flatMap(({ source, kind, text }) =>
    kind === "source-artifact" || kind === "current-artifact" ? [source, text] : [source],
  )
  const folders = new Set(named.flatMap((path) => ARTIFACT_FOLDER.exec(path)?.[0] ?? []))
  const artifacts = [...folders].flatMap((folder) => ARTIFACTS.map((name) => `${folder}/${name}`))
  const paths = [...new Set([...WATCHED, ...folders, ...artifacts, ...named])].filter(
    (path) => !/[\n\t]/.test(path),
  )
  return lookAt(root, paths.slice(0, SOURCES_LIMIT))
}

export const lookAgain = (root: string, before: string): string =>
  lookAt(
    root,
    before.split("\n").map((line) => line.slice(line.lastIndexOf("\t") + 1)),
  )

const lookAt = (root: string, paths: readonly string[]): string => {
  const reader = openGuardedReader(root, openReadBudget({ limits: { timeMs: 30 } }))
  return paths
    .map((path) => {
      const look = reader.look(path)
      return "reason" in look
        ? `${look.kind}\t${path}`
        : `${look.kind} ${look.modifiedMs} ${look.bytes}\t${path}`
    })
    .join("\n")
}
