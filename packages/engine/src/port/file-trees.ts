/**
 * The files of a place as trees: kept under an id, compared and restored. A tree leaves out files outside the place, files
 * ignored by git, and files that are too large or unreadable.
 */
import { Context } from "effect"

import type { TreeChange, TreeEntry } from "../domain/undo.ts"

export interface TakenTree {
  readonly tree: string
  /** Paths relative to the top of the place. */
  readonly skipped: readonly string[]
  /** The requested paths, relative to the top of the place. */
  readonly paths: readonly string[]
}

/** A session at work on files of the place. Stays in one process that overlap in time know of each other. */
export interface FileStay {
  /** The session may change these paths from now on. Undefined means any path. */
  readonly changes: (paths: readonly string[] | undefined) => void
  /** Ends the stay. Reports what other stays changed in that time, and whether they may have changed anything. */
  readonly leave: () => { readonly shared: boolean; readonly others: readonly string[] }
}

/** Every verb rejects only with `FilesProblem`. */
export interface FileTrees {
  /** The folder that tree paths are relative to. */
  readonly top: string
  /** Takes the files as they are now. `paths` (absolute) limits the tree to these. */
  readonly take: (paths?: readonly string[]) => Promise<TakenTree>
  /** `parent`: the session whose call it works for. Its changes count as part of that call. */
  readonly enter: (session: string, parent?: string) => FileStay
  readonly compare: (from: string, to: string) => Promise<readonly TreeChange[]>
  /** Reads the entries of a tree. */
  readonly read: (tree: string) => Promise<ReadonlyMap<string, TreeEntry>>
  /** Makes a tree of these entries. */
  readonly make: (entries: ReadonlyMap<string, TreeEntry>) => Promise<string>
  /**
   * Turns files from the state in the first tree into the state in the second. If one file differs from the first tree,
   * none is written.
   */
  readonly write: (now: string, then: string) => Promise<void>
  /** Protects trees from cleanup while the session exists. Only a bounded number, the newest, is held. */
  readonly hold: (session: string, trees: readonly string[]) => Promise<void>
  readonly drop: (session: string) => Promise<void>
  /** The difference, as `git diff` prints it. */
  readonly diff: (from: string, to: string, how: DiffForm) => Promise<string>
}

export type DiffForm = "patch" | "stat" | "names"

export class FilesProblem extends Error {
  override readonly name = "FilesProblem"
}

/** The trees of every place. Each is opened on first use. */
export class FilePlaces extends Context.Service<
  FilePlaces,
  {
    /** When false, nothing is kept. */
    readonly keeps: boolean
    readonly at: (directory: string) => Promise<FileTrees>
  }
>()("meridian/FilePlaces") {}
