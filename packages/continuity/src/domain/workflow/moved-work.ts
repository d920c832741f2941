/**
 * Where the tools have worked, by the artifacts they touched: the log may still name one spec while the work has moved to
 * another. Only touches after the log's last change count.
 */
import { FOLDER_OF, type WorkflowKind } from "./stage.ts"

export interface TouchedFile {
  /** Relative to the root. */
  readonly path: string
  /** Its place among everything that was touched; larger is later. */
  readonly order: number
  /** Milliseconds since 1970, if known. */
  readonly time?: number
}

export interface WorkFolder {
  readonly kind: WorkflowKind
  readonly name: string
}

/** Workflow folders, the last touched first. `logModifiedMs`: when the log file was last written. */
export const touchedFolders = (
  files: readonly TouchedFile[],
  logModifiedMs: number | undefined,
): readonly WorkFolder[] => {
  const logOrder = files.findLast(({ path }) => path === "SESSION.md")?.order ?? -1
  const folders = new Map<string, WorkFolder>()
  for (const { path, order, time } of files.toSorted((left, right) => right.order - left.order)) {
    const folder = folderOf(path)
    if (folder === undefined || order < logOrder) continue
    if (time !== undefined && logModifiedMs !== undefined && time < logModifiedMs) continue
    const key = `${folder.kind}/${folder.name}`
    if (!folders.has(key)) folders.set(key, folder)
  }
  return [...folders.values()]
}

const folderOf = (path: string): WorkFolder | undefined => {
  for (const kind of ["spec", "bug"] as const) {
    const start = `${FOLDER_OF[kind]}/`
    if (!path.startsWith(start)) continue
    const [name, ...rest] = path.slice(start.length).split("/")
    if (name !== undefined && name !== "" && rest.length > 0) return { kind, name }
  }
  return undefined
}

export const pathOfFolder = ({ kind, name }: WorkFolder): string => `${FOLDER_OF[kind]}/${name}`
