/** Trees of one place, which git takes, compares and writes back. Taking only reads files, and nothing converts them. */
import { randomUUID } from "node:crypto"
import { accessSync, constants, existsSync, lstatSync, realpathSync, rmSync, type Stats } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"

import type { TreeChange, TreeEntry } from "../domain/undo.ts"
import { FilesProblem, type DiffForm, type FileTrees, type TakenTree } from "../port/file-trees.ts"
import { callGit, type GitCall } from "./call-git.ts"
import { openTreeHolder } from "./hold-trees.ts"
import { FILE_LIMITS } from "./limits.ts"
import type { FilePlace } from "./open-place.ts"
import { openStays } from "./stays.ts"

export const openTrees = (place: FilePlace): FileTrees => {
  const { top, prefix, git } = place
  const run = async (args: readonly string[], call: GitCall = {}): Promise<string> =>
    (await callGit(git, args, call)).text
  const warm = { GIT_INDEX_FILE: place.index }
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

  const lookAtAll = async (): Promise<TakenTree> => {
    const below = prefix === "" ? [] : ["--", prefix]
    const [changed, added] = await Promise.all([
      run(["diff-files", "-z", "--name-only", "--ignore-submodules=all", ...below], { env: warm }),
      run(["ls-files", "-z", "--others", "--exclude-standard", ...below], { env: warm }),
    ])
    // A nested repository is listed with a trailing slash. We do not keep it.
    const paths = [...new Set([...names(changed), ...names(added)])].filter((path) => !path.endsWith("/"))
    const { kept, skipped } = sift(top, paths)
    if (kept.length > 0) {
      known = undefined
      await run(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], {
        env: warm,
        input: kept.map((path) => `${path}\0`).join(""),
      })
    }
    known ??= await writeTree(warm)
    return { tree: known, skipped, paths: [] }
  }

  const takeAll = (): Promise<TakenTree> =>
    inTurn(async () => {
      try {
        return await lookAtAll()
      } catch (error) {
        // Start with a new index, whatever is wrong with this one. All it knows can be found out again.
        if (!existsSync(place.index) || isMissingGit(error)) throw error
        rmSync(place.index, { force: true })
        known = undefined
        return await lookAtAll()
      }
    })

  const takeNamed = async (absolute: readonly string[]): Promise<TakenTree> => {
    const paths = [...new Set(absolute.flatMap((path) => inside(top, path) ?? []))]
    const { kept, skipped } = sift(top, paths)
    const standing = kept.filter((path) => isFile(join(top, path)))
    const tree = await withIndex(async (env) => {
      if (standing.length > 0)
        await run(["update-index", "-z", "--add", "--remove", "--stdin"], {
          env,
          input: standing.map((path) => `${path}\0`).join(""),
        })
      return await writeTree(env)
    })
    return { tree, skipped, paths: paths.filter((path) => !skipped.includes(path)) }
  }

  const compare: FileTrees["compare"] = async (from, to) =>
    from === to ? [] : readChanges(await run(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to]))

  const make: FileTrees["make"] = (entries) =>
    withIndex(async (env) => {
      const lines = [...entries].map(([path, { mode, object }]) => `${mode} ${object}\t${path}\0`)
      if (lines.length > 0) await run(["update-index", "-z", "--index-info"], { env, input: lines.join("") })
      return await writeTree(env)
    })

  return {
    top,
    take: (paths) => (paths === undefined ? takeAll() : takeNamed(paths)),
    compare,
    make,
    read: async (tree) => {
      const changes = await compare(await make(new Map()), tree)
      return new Map(changes.flatMap(({ path, after }) => (after === undefined ? [] : [[path, after]])))
    },
    write: (now, then) =>
      withIndex(async (env) => {
        await run(["read-tree", now], { env })
        // Its exit code says only that some file differs. The next call finds out which.
        await run(["update-index", "-q", "--refresh"], { env, answers: [1] })
        await run(["read-tree", "-m", "-u", now, then], { env })
      }),
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

const names = (answer: string): readonly string[] => answer.split("\0").filter((name) => name !== "")

/** The path relative to the top; undefined when it is elsewhere, even through a link. */
const inside = (top: string, absolute: string): string | undefined => {
  const path = relative(top, join(realFolder(dirname(absolute)), basename(absolute)))
  const parts = path.split(sep)
  return path === "" || parts[0] === ".." || parts.includes(".git") ? undefined : parts.join("/")
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
): { readonly kept: readonly string[]; readonly skipped: readonly string[] } => {
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
  return { kept, skipped }
}

const MEBIBYTE = 1_048_576

/** Undefined also when one of its folders is now a file. */
const statOf = (file: string): Stats | undefined => {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const isFile = (file: string): boolean => {
  const stat = statOf(file)
  return stat !== undefined && !stat.isDirectory()
}

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
