/**
 * The files of a place as trees: kept under an id, compared, and brought back. What is outside of the place, ignored by git,
 * too large or not to be read is in no tree.
 */
import { Context } from "effect"

import type { TreeChange, TreeEntry } from "../domain/undo.ts"

export interface TakenTree {
  readonly tree: string
  /** Relative to the top of the place. */
  readonly skipped: readonly string[]
  /** Of those asked for: relative to the top of the place. */
  readonly paths: readonly string[]
}

/** A session at work on files of the place. Those that work there at the same time, in one process, know of each other. */
export interface FileStay {
  /** It may change these from now on; undefined: any. */
  readonly changes: (paths: readonly string[] | undefined) => void
  /** What others did there since, and whether they may have done anything at all. */
  readonly leave: () => { readonly shared: boolean; readonly others: readonly string[] }
}

/** Every verb rejects with `FilesProblem`, and only with that. */
export interface FileTrees {
  /** What paths of trees are relative to. */
  readonly top: string
  /** The files as they stand. `paths`: only these, absolute. */
  readonly take: (paths?: readonly string[]) => Promise<TakenTree>
  /** `parent`: whose call it works for. What it does is part of what that call did. */
  readonly enter: (session: string, parent?: string) => FileStay
  readonly compare: (from: string, to: string) => Promise<readonly TreeChange[]>
  /** What is in a tree. */
  readonly read: (tree: string) => Promise<ReadonlyMap<string, TreeEntry>>
  /** A tree of these. */
  readonly make: (entries: ReadonlyMap<string, TreeEntry>) => Promise<string>
  /** Files that stand as in the first tree become as in the second: all of them, or none when one of them does not. */
  readonly write: (now: string, then: string) => Promise<void>
  /** Keeps them from being cleaned up as long as the session is there, the newest of a bounded number. */
  readonly hold: (session: string, trees: readonly string[]) => Promise<void>
  readonly drop: (session: string) => Promise<void>
  /** The difference as `git diff` prints it. */
  readonly diff: (from: string, to: string, how: DiffForm) => Promise<string>
}

export type DiffForm = "patch" | "stat" | "names"

export class FilesProblem extends Error {
  override readonly name = "FilesProblem"
}

/** The trees of every place, opened when they are first needed. */
export class FilePlaces extends Context.Service<
  FilePlaces,
  {
    /** False: nothing is kept. */
    readonly keeps: boolean
    readonly at: (directory: string) => Promise<FileTrees>
  }
>()("meridian/FilePlaces") {}
