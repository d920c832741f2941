/**
 * Writes git objects as loose ones (gitformat-loose): a header and the content, deflated, named by their hash. For the few
 * files that a tool names, starting git would take longer than all other work on them.
 */
import { createHash, randomUUID } from "node:crypto"
import { chmodSync, mkdirSync, renameSync, statSync, utimesSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { deflate } from "node:zlib"

import { systemCode } from "@meridian/protocol"

import type { TreeEntry } from "../domain/undo.ts"
import { FilesProblem } from "../port/file-trees.ts"
import { machineNow } from "../port/machine-time.ts"

export interface LooseObjects {
  readonly writeBlob: (content: Uint8Array) => Promise<string>
  /** The paths have slashes. */
  readonly writeTree: (entries: ReadonlyMap<string, TreeEntry>) => Promise<string>
  /** Writes one folder. */
  readonly writeLevel: (entries: ReadonlyMap<string, TreeEntry>) => Promise<string>
  /** A commit of this tree, without parents, with a fixed author and date. */
  readonly writeCommit: (tree: string) => Promise<string>
}

export const openLooseObjects = ({
  objects,
  format,
}: {
  /** The folder of all objects. */
  readonly objects: string
  readonly format: string
}): LooseObjects => {
  const write = async (kind: "blob" | "tree" | "commit", content: Uint8Array): Promise<string> => {
    const whole = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])
    const name = createHash(format).update(whole).digest("hex")
    const folder = join(objects, name.slice(0, 2))
    const file = join(folder, name.slice(2))
    if (isFreshened(file)) return name
    const draft = join(objects, `tmp_obj_${randomUUID()}`)
    try {
      await writeFile(draft, await packed(whole, { level: 1 }), { mode: 0o444, flag: "wx" })
      makeFolder(folder, objects)
      renameSync(draft, file)
    } catch (cause) {
      await rm(draft, { force: true })
      throw new FilesProblem(`${objects} cannot be written`, { cause })
    }
    return name
  }

  const writeLevel: LooseObjects["writeLevel"] = (entries) => {
    const lines = [...entries].toSorted(byName).map(lineOf)
    return write("tree", Buffer.concat(lines))
  }

  const writeBelow = async (entries: readonly Entry[]): Promise<string> => {
    const level = new Map<string, TreeEntry>()
    const below = new Map<string, Entry[]>()
    for (const { path, mode, object } of entries) {
      const slash = path.indexOf("/")
      if (slash === -1) {
        level.set(path, { mode, object })
        continue
      }
      const name = path.slice(0, slash)
      const inside = below.get(name) ?? []
      inside.push({ path: path.slice(slash + 1), mode, object })
      below.set(name, inside)
    }
    // oxlint-disable-next-line eslint/no-await-in-loop -- a handful of small files
    for (const [name, inside] of below) level.set(name, { mode: FOLDER, object: await writeBelow(inside) })
    return writeLevel(level)
  }

  return {
    writeBlob: (content) => write("blob", content),
    writeTree: (entries) =>
      writeBelow([...entries].map(([path, { mode, object }]) => ({ path, mode, object }))),
    writeLevel,
    writeCommit: (tree) =>
      write("commit", Buffer.from(`tree ${tree}\nauthor ${NOBODY}\ncommitter ${NOBODY}\n\nkept\n`)),
  }
}

const packed = promisify<Uint8Array, { readonly level: number }, Buffer>(deflate)

type Entry = TreeEntry & { readonly path: string }
type Line = readonly [name: string, entry: TreeEntry]

const NOBODY = "Meridian <meridian@localhost> 0 +0000"

export const FOLDER = "40000"

/** Git sorts by bytes, and a folder as if its name ended with a slash. */
const byName = (left: Line, right: Line): number => Buffer.compare(sortedAs(left), sortedAs(right))

const sortedAs = ([name, { mode }]: Line): Buffer => Buffer.from(mode === FOLDER ? `${name}/` : name)

const lineOf = ([name, { mode, object }]: Line): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, "hex")])

/** A fresh time protects an existing object from the cleanup of old ones. */
const isFreshened = (file: string): boolean => {
  try {
    const now = machineNow() / 1000
    utimesSync(file, now, now)
    return true
  } catch {
    return false
  }
}

/** In a repository shared by a group, the mode of its folders says so. A new folder copies it. */
const makeFolder = (folder: string, like: string): void => {
  try {
    mkdirSync(folder)
    chmodSync(folder, statSync(like).mode & 0o7777)
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error
  }
}
