/** Trees of one place, which git takes, compares and writes back. Taking only reads files, and nothing converts them. */
import { randomUUID } from "node:crypto"
import { accessSync, constants, existsSync, realpathSync, rmSync } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"

import type { TreeChange, TreeEntry } from "../domain/undo.ts"
import { FilesProblem, type DiffForm, type FileTrees, type TakenTree } from "../port/file-trees.ts"
import { amendTree } from "./amend-tree.ts"
import { callGit, type GitCall } from "./call-git.ts"
import { findObstacle } from "./find-obstacle.ts"
import { openTreeHolder } from "./hold-trees.ts"
import { FILE_LIMITS } from "./limits.ts"
import { openLook } from "./look.ts"
import { openLooseObjects } from "./loose-objects.ts"
import type { FilePlace } from "./open-place.ts"
import { readEntry, statOf } from "./read-entry.ts"
import { openStays } from "./stays.ts"
import { openYoungFiles } from "./young-files.ts"

export const openTrees = (place: FilePlace): FileTrees => {
  const { top, git, isOurs } = place
  const objects = openLooseObjects(place)
  const run = async (args: readonly string[], call: GitCall = {}): Promise<string> =>
    (await callGit(git, args, call)).text
  const look = openLook(place)
  const { warm } = look
  /** All full looks share one index, so they run one at a time. */
  let turn: Promise<unknown> = Promise.resolve()
  /** The tree of the index in its current state. */
  let known: string | undefined

  const inTurn = <A>(work: () => Promise<A>): Promise<A> => {
    const next = turn.then(work, work)
    turn = next.catch(() => undefined)
    return next
  }

  /** Runs git with a temporary index. */
  const withIndex = async <A>(work: (env: NonNullable<GitCall["env"]>) => Promise<A>): Promise<A> => {
    const file = join(place.folder, `${process.pid}-${randomUUID()}.index`)
    try {
      return await work({ GIT_INDEX_FILE: file })
    } finally {
      for (const name of [file, `${file}.lock`]) rmSync(name, { force: true })
    }
  }

  const writeTree = async (env: NonNullable<GitCall["env"]>): Promise<string> =>
    (await run(["write-tree", "--missing-ok"], { env })).trim()

  const young = openYoungFiles(top)

  const update = (how: readonly string[], paths: readonly string[]): Promise<string> =>
    run(["update-index", "-z", "--add", "--remove", "--replace", ...how, "--stdin"], {
      env: warm,
      input: paths.map((path) => `${path}\0`).join(""),
    })

  /** Adds these files to the index and returns the tree it then holds. */
  const takeIn = async (paths: readonly string[], hidden: readonly string[]): Promise<string> => {
    // Git would not read them again otherwise.
    if (hidden.length > 0) await update(["--force-remove"], hidden)
    if (paths.length > 0) {
      young.note(paths)
      await update([], paths)
    }
    return await writeTree(warm)
  }

  /** The index may lack a few changed files. They are read again each time. */
  const lookAtAll = async (): Promise<TakenTree> => {
    const { kept, skipped, bytes } = sift(
      top,
      (await look.changed()).filter((path) => !isOurs(path)),
    )
    const hidden = young.changed().filter((path) => !kept.includes(path))
    const due = [...kept, ...hidden]
    const isLittle =
      due.length <= FILE_LIMITS.readAgain &&
      bytes <= FILE_LIMITS.readAgainBytes &&
      !due.some((path) => path.includes("\n"))
    if (known !== undefined && isLittle) {
      if (due.length === 0) return { tree: known, skipped, paths: [] }
      const changes = await readEntries(due)
      const tree = await amendTree(git, { tree: known, changes, objects, env: warm })
      return { tree, skipped, paths: [] }
    }
    known = undefined
    known = await takeIn(due, hidden)
    await look.remember(known)
    return { tree: known, skipped, paths: [] }
  }

  const takeAll = (): Promise<TakenTree> =>
    inTurn(async () => {
      try {
        return await lookAtAll()
      } catch (error) {
        // Start with a new index, whatever is wrong with this one. All it knows can be found out again.
        if (!existsSync(place.index) || isMissingGit(error)) throw error
        look.forget()
        known = undefined
        return await lookAtAll()
      }
    })

  const readEntries = async (paths: readonly string[]): Promise<Map<string, TreeEntry | undefined>> => {
    const entries = new Map<string, TreeEntry | undefined>()
    for (const path of paths) {
      const found = readEntry(join(top, path))
      entries.set(
        path,
        // oxlint-disable-next-line eslint/no-await-in-loop -- one at a time is in memory
        found && { mode: found.mode, object: await objects.writeBlob(found.content) },
      )
    }
    return entries
  }

  const takeNamed = async (absolute: readonly string[]): Promise<TakenTree> => {
    const paths = [...new Set(absolute.flatMap((path) => inside(top, path) ?? []))]
    const ours = paths.filter(isOurs)
    const { kept, skipped: unkept } = sift(
      top,
      paths.filter((path) => !isOurs(path)),
    )
    const skipped = [...unkept, ...ours]
    const entries = [...(await readEntries(kept))].flatMap(([path, entry]) =>
      entry === undefined ? [] : [[path, entry] as const],
    )
    const tree = await objects.writeTree(new Map(entries))
    return { tree, skipped, paths: paths.filter((path) => !skipped.includes(path)) }
  }

  const compare: FileTrees["compare"] = async (from, to) =>
    from === to ? [] : readChanges(await run(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to]))

  const read: FileTrees["read"] = async (tree) => {
    const changes = await compare(await objects.writeTree(new Map()), tree)
    return new Map(changes.flatMap(({ path, after }) => (after === undefined ? [] : [[path, after]])))
  }

  return {
    top,
    take: (paths) => (paths === undefined ? takeAll() : takeNamed(paths)),
    compare,
    make: objects.writeTree,
    read,
    write: async (now, then) => {
      const stands = await read(now)
      for (const { path, before } of await compare(now, then)) {
        const obstacle =
          before === undefined ? findObstacle(top, path, (other) => stands.has(other)) : undefined
        if (obstacle !== undefined) throw new FilesProblem(`${obstacle} is in the way of ${path}`)
      }
      await withIndex(async (env) => {
        await run(["read-tree", now], { env })
        // Its exit code says only that some file differs. The next call finds out which.
        await run(["update-index", "-q", "--refresh"], { env, answers: [1] })
        await run(["read-tree", "-m", "-u", now, then], { env })
      })
    },
    ...openTreeHolder(place),
    enter: openStays(),
    diff: async (from, to, how) => run(["diff", ...PLAIN_DIFF, ...FORMS[how], from, to]),
  }
}

const PLAIN_DIFF = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"] as const

const FORMS = {
  patch: [],
  stat: ["--stat"],
  names: ["--name-only"],
} as const satisfies Record<DiffForm, readonly string[]>

/** The path relative to the top; undefined when it is elsewhere, even through a link. */
const inside = (top: string, absolute: string): string | undefined => {
  const path = relative(top, join(realFolder(dirname(absolute)), basename(absolute)))
  const parts = path.split(sep)
  return path === "" || parts[0] === ".." || parts.some((part) => part.toLowerCase() === ".git")
    ? undefined
    : parts.join("/")
}

/** A file that does not exist yet may be in a folder that does not exist yet. */
const realFolder = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch {
    return folder === dirname(folder) ? folder : join(realFolder(dirname(folder)), basename(folder))
  }
}

/** Throws when the files exceed what we keep at all. */
const sift = (
  top: string,
  paths: readonly string[],
): { readonly kept: readonly string[]; readonly skipped: readonly string[]; readonly bytes: number } => {
  if (paths.length > FILE_LIMITS.changedFiles)
    throw new FilesProblem(
      `${paths.length} new and changed files are more than are kept (${FILE_LIMITS.changedFiles})`,
    )
  const kept: string[] = []
  const skipped: string[] = []
  let bytes = 0
  for (const path of paths) {
    const size = keepable(join(top, path))
    if (size === undefined || path.includes("\uFFFD")) {
      skipped.push(path)
      continue
    }
    bytes += size
    kept.push(path)
  }
  if (bytes > FILE_LIMITS.changedBytes)
    throw new FilesProblem(
      `${Math.ceil(bytes / MEBIBYTE)} MiB of new and changed files are more than is kept (${FILE_LIMITS.changedBytes / MEBIBYTE} MiB)`,
    )
  return { kept, skipped, bytes }
}

const MEBIBYTE = 1_048_576

/** The file's size, 0 when it is gone, undefined when we do not keep it. */
const keepable = (file: string): number | undefined => {
  const stat = statOf(file)
  if (stat === undefined || stat.isSymbolicLink() || stat.isDirectory()) return 0
  if (!stat.isFile() || stat.size > FILE_LIMITS.fileBytes) return undefined
  try {
    accessSync(file, constants.R_OK)
    return stat.size
  } catch {
    return undefined
  }
}

/** `:100644 100755 OLD NEW M`, then the path. */
const readChanges = (answer: string): readonly TreeChange[] => {
  const parts = answer.split("\0")
  const changes: TreeChange[] = []
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [mode = "", newMode = "", object = "", newObject = ""] = (parts[index] ?? "").slice(1).split(" ")
    changes.push({
      path: parts[index + 1] ?? "",
      before: entry(mode, object),
      after: entry(newMode, newObject),
    })
  }
  return changes
}

const entry = (mode: string, object: string): TreeEntry | undefined =>
  /^0*$/.test(mode) ? undefined : { mode, object }

const isMissingGit = (error: unknown): boolean =>
  error instanceof FilesProblem && error.message.includes("not installed")
