/**
 * Where the trees of a place live: a small git folder in the engine's state, with its own settings, attributes and index.
 * In a repository the objects are stored with the user's, and our refs (`refs/meridian/files/`) keep them alive; the user's
 * index, HEAD and settings are only read. Elsewhere the objects are in our folder.
 */
import { createHash, randomUUID } from "node:crypto"
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { homedir } from "node:os"
import { join, relative } from "node:path"

import { systemCode } from "@meridian/protocol"

import { FilesProblem } from "../port/file-trees.ts"
import { callGit, gitEnvironment, type GitFolder } from "./call-git.ts"

export interface FilePlace {
  readonly top: string
  /** The place's path below `top`, with slashes; "" for all of it. */
  readonly prefix: string
  /** Our folder. */
  readonly folder: string
  /** For git calls with our settings. */
  readonly git: GitFolder
  /** For calls that read and write the refs that keep trees alive. */
  readonly refs: GitFolder
  /** Remembers the last state of the files, so that only changed ones are read. */
  readonly index: string
  /** Where objects are, and the hash that names them. */
  readonly objects: string
  readonly format: string
  readonly isRepository: boolean
  /**
   * Whether a path below the top is the engine's database, or a file or folder named after it. These are never kept: an
   * undo must not turn the log back, and a process that opens and closes such a file loses SQLite's locks on it.
   */
  readonly isOurs: (path: string) => boolean
}

export interface FilePlaceOptions {
  /** The folder that contains our folders. */
  readonly root: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The file of the engine's database, if it has one. */
  readonly database?: string | undefined
}

/** Rejects with FilesProblem. */
export const openPlace = async (directory: string, options: FilePlaceOptions): Promise<FilePlace> => {
  const env = gitEnvironment(options.environment)
  const real = realPlace(directory)
  const repository = await findRepository(real, env)
  const top = repository?.top ?? real
  const folder = join(options.root, createHash("sha256").update(top).digest("hex").slice(0, 24))
  const format = repository?.format ?? "sha1"
  await makeFolder(folder, { cwd: real, env, format })
  const exclude =
    repository === undefined ? OUTSIDE : readIfThere(join(repository.commonDir, "info", "exclude"))
  writeFileSync(join(folder, "info", "exclude"), exclude)
  sweepIndexes(folder)
  const index = join(folder, `${process.pid}-${randomUUID()}.index`)
  const own = { cwd: top, env: { ...env, GIT_DIR: folder, GIT_WORK_TREE: top } }
  const place: FilePlace = {
    top,
    prefix: relative(top, real).replaceAll("\\", "/"),
    folder,
    git:
      repository === undefined
        ? own
        : { ...own, env: { ...own.env, GIT_OBJECT_DIRECTORY: repository.objects } },
    refs: repository === undefined ? own : { cwd: top, env: { ...env, GIT_DIR: repository.commonDir } },
    index,
    objects: repository?.objects ?? join(folder, "objects"),
    format,
    isRepository: repository !== undefined,
    isOurs: namedAfter(options.database, top),
  }
  if (repository !== undefined && (await isPlain(real, repository, env)))
    copyIndex(join(repository.gitDir, "index"), index)
  else copyIndex(keptIndex(folder), index)
  return place
}

/** Leaves the index to the next process. */
export const closePlace = ({ folder, index }: FilePlace): void => {
  try {
    if (existsSync(index)) renameSync(index, keptIndex(folder))
  } catch {
    // Then the next process reads the files again.
  }
  rmSync(`${index}.lock`, { force: true })
}

const keptIndex = (folder: string): string => join(folder, "kept.index")

/** `engine.sqlite` itself, its `engine.sqlite-wal`, and what is below `engine.sqlite.output`. */
const namedAfter = (database: string | undefined, top: string): FilePlace["isOurs"] => {
  if (database === undefined) return () => false
  const ours = relative(top, realpathSync(database)).replaceAll("\\", "/")
  return (path) => path === ours || path.startsWith(`${ours}-`) || path.startsWith(`${ours}.`)
}

const realPlace = (directory: string): string => {
  try {
    return realpathSync(directory)
  } catch (cause) {
    throw new FilesProblem(`${directory} is not there`, { cause })
  }
}

interface UserRepository {
  readonly top: string
  readonly gitDir: string
  readonly commonDir: string
  readonly objects: string
  readonly format: string
}

/** Undefined when the place is not part of a repository: outside of one, ignored by it, or one that git refuses to read. */
const findRepository = async (cwd: string, env: GitFolder["env"]): Promise<UserRepository | undefined> => {
  const found = await callGit(
    { cwd, env },
    [
      "rev-parse",
      "--path-format=absolute",
      "--show-toplevel",
      "--absolute-git-dir",
      "--git-common-dir",
      "--git-path",
      "objects",
      "--show-object-format",
    ],
    { answers: [1, 128, 129] },
  )
  const [top, gitDir, commonDir, objects, format] = found.text.split("\n")
  if (found.code !== 0 || top === undefined || gitDir === undefined) return undefined
  if (commonDir === undefined || objects === undefined || format === undefined) return undefined
  const ignored = await callGit({ cwd, env }, [...SILENT, "check-ignore", "--quiet", "."], {
    answers: [1, 128],
  })
  return ignored.code === 0 ? undefined : { top, gitDir, commonDir, objects, format }
}

/** For the few calls that read the user's repository: they start no program that its settings name. */
export const SILENT = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"] as const

/** The user's index can be reused only if nothing converts files on their way into it. */
const isPlain = async (
  cwd: string,
  { top, gitDir, commonDir }: UserRepository,
  env: GitFolder["env"],
): Promise<boolean> => {
  if (existsSync(join(top, ".gitattributes"))) return false
  if (existsSync(join(commonDir, "info", "attributes"))) return false
  if (existsSync(join(configHome(env), "git", "attributes"))) return false
  if (readdirSync(gitDir).some((name) => name.startsWith("sharedindex."))) return false
  const settings = await callGit({ cwd, env }, [...SILENT, "config", "--list", "--null", "--name-only"], {
    answers: [1, 128],
  })
  if (settings.text.split("\0").some((name) => CONVERTING.has(name.toLowerCase()))) return false
  const named = await callGit({ cwd: top, env }, [...SILENT, "ls-files", "-z", "--cached"], {
    answers: [128],
  })
  return named.code === 0 && !/(?:^|[\0/])\.gitattributes\0/.test(named.text)
}

const CONVERTING: ReadonlySet<string> = new Set([
  "core.autocrlf",
  "core.attributesfile",
  "core.sparsecheckout",
  "core.splitindex",
])

const configHome = (env: GitFolder["env"]): string =>
  env["XDG_CONFIG_HOME"] ?? join(env["HOME"] ?? homedir(), ".config")

/** Makes the folder completely or not at all. */
const makeFolder = async (
  folder: string,
  { cwd, env, format }: GitFolder & { readonly format: string },
): Promise<void> => {
  if (existsSync(join(folder, "HEAD"))) return
  const draft = `${folder}.${randomUUID()}`
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  try {
    await callGit({ cwd, env }, [
      "init",
      "--quiet",
      "--bare",
      "--template=",
      `--object-format=${format}`,
      draft,
    ])
    appendFileSync(join(draft, "config"), SETTINGS)
    mkdirSync(join(draft, "info"), { recursive: true })
    writeFileSync(join(draft, "info", "attributes"), ATTRIBUTES)
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(join(folder, "HEAD")))
      throw error instanceof FilesProblem
        ? error
        : new FilesProblem(`${folder} cannot be made`, { cause: error })
  }
}

/** Keeps files byte for byte: no setting and no attribute converts them. */
const ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding -merge\n"

const SETTINGS = `[core]
	bare = false
	fsmonitor = false
	hooksPath = /dev/null
	autocrlf = false
	safecrlf = false
	sparseCheckout = false
	splitIndex = false
[index]
	version = 4
[gc]
	auto = 0
`

/** What to ignore outside a repository. */
const OUTSIDE = "node_modules/\n.venv/\n__pycache__/\n.cache/\n"

const readIfThere = (file: string): string => {
  try {
    return lstatSync(file).size > 1024 * 1024 ? "" : readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Git treats an entry older than the index as unchanged, so the copy must not look newer than its original. */
const copyIndex = (from: string, to: string): void => {
  try {
    const { mtimeMs } = lstatSync(from)
    copyFileSync(from, to)
    utimesSync(to, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000))
  } catch {
    rmSync(to, { force: true })
  }
}

/** Removes the index files of dead processes. */
const sweepIndexes = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const pid = /^(\d+)-.*\.index(?:\.lock|\.head)?$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === "EPERM"
  }
}
