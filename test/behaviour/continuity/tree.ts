/** A project folder for one test, written from a table of paths. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { type Brief, readBrief } from "@meridian/continuity"

export type Tree = Readonly<Record<string, string | Uint8Array>>

/** Runs with a fresh folder that contains these files. A path that ends in a slash is an empty folder. */
export const inTree = async <Result>(tree: Tree, act: (root: string) => Promise<Result>): Promise<Result> => {
  const root = mkdtempSync(join(tmpdir(), "continuity-"))
  try {
    for (const [path, content] of Object.entries(tree)) {
      mkdirSync(join(root, path.endsWith("/") ? path : dirname(path)), { recursive: true })
      if (!path.endsWith("/")) writeFileSync(join(root, path), content)
    }
    return await act(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

export const briefOf = (tree: Tree): Promise<Brief> =>
  inTree(tree, (root) => readBrief({ root, clock: () => 0 }))

/** The bullets under a heading, without their signs. */
export const bulletsOf = (text: string, heading: string): readonly string[] => {
  const lines = text.split("\n")
  const from = lines.indexOf(`## ${heading}`)
  if (from === -1) return []
  const rest = lines.slice(from + 1)
  const end = rest.findIndex((line) => !line.startsWith("- "))
  return (end === -1 ? rest : rest.slice(0, end)).map((line) => line.slice(2))
}
