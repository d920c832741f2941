/** The two canonical workflows. The names are a contract: always shown exactly like this, never renamed. */
import { type Line, readLines } from "../markdown/line.ts"

export const SPEC_STAGES = ["spec-create", "spec-design", "spec-tasks", "spec-execute"] as const
export const BUG_STAGES = ["bug-create", "bug-analyze", "bug-fix", "bug-verify"] as const

export type SpecStage = (typeof SPEC_STAGES)[number]
export type BugStage = (typeof BUG_STAGES)[number]
export type Stage = SpecStage | BugStage
export type WorkflowKind = "spec" | "bug"

export const kindOf = (stage: Stage): WorkflowKind => (stage.startsWith("spec-") ? "spec" : "bug")

/** Its place in the workflow, from 0. */
export const placeOf = (stage: Stage): number =>
  Math.max(
    SPEC_STAGES.findIndex((name) => name === stage),
    BUG_STAGES.findIndex((name) => name === stage),
  )

/** The folders of workflow artifacts, relative to the root. */
export const FOLDER_OF = { spec: ".codex/specs", bug: ".codex/bugs" } as const satisfies Record<
  WorkflowKind,
  string
>

/** The files of a workflow, in display order. */
export const ARTIFACTS_OF = {
  spec: ["requirements.md", "design.md", "tasks.md", "context.md", "harness/feature_list.json"],
  bug: ["report.md", "analysis.md", "verification.md", "harness/progress.md", "harness/bug_state.json"],
} as const satisfies Record<WorkflowKind, readonly string[]>

export type ArtifactName = (typeof ARTIFACTS_OF)[WorkflowKind][number]

/** What is known about one folder: each file that exists. */
export interface Artifacts {
  readonly kind: WorkflowKind
  readonly name: string
  readonly files: Readonly<Partial<Record<ArtifactName, Document>>>
}

/** A file with its lines. They are classified once, on first use. */
export interface Document {
  readonly text: string
  readonly lines: readonly Line[]
  /** Only part of the file was read. What is missing here may exist, and nothing can be counted. */
  readonly isCut: boolean
}

export const openDocument = (text: string, isCut: boolean): Document => {
  let lines: readonly Line[] | undefined
  return {
    text,
    isCut,
    get lines() {
      return (lines ??= readLines(text))
    },
  }
}

const EMPTY: Document = { text: "", lines: [], isCut: false }

export const documentOf = ({ files }: Artifacts, file: ArtifactName): Document => files[file] ?? EMPTY

/** Something is left after removing blanks and the characters of an empty template. */
export const hasContent = (artifacts: Artifacts, file: ArtifactName): boolean =>
  /[^\s#`_*-]/.test(documentOf(artifacts, file).text)

export const pathOf = ({ kind, name }: Artifacts, file: ArtifactName): string =>
  `${FOLDER_OF[kind]}/${name}/${file}`
