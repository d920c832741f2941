/**
 * The models this project knows: the built-in table, whose aliases follow the catalogue of limits, and
 * `.meridian/models.toml`, which is read only if it exists.
 */
import { join } from "node:path"

import { Failure } from "@meridian/protocol"

import { followCatalogue } from "../domain/follow-catalogue.ts"
import { BUILT_IN_MODELS, mergeModels, readModelRow, type Model } from "../domain/model-catalogue.ts"
import { warning, type Warning } from "../domain/warning.ts"
import { parseToml, readConfigText } from "./config-file.ts"
import { loadLimits } from "./model-limits.ts"

export interface Catalogue {
  readonly models: readonly Model[]
  readonly warnings: readonly Warning[]
}

export const loadCatalogue = async (
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Catalogue> => {
  const path = join(root, "models.toml")
  const text = readConfigText(path, root)
  const tree: unknown = text === undefined ? {} : await parseToml(path, text)
  const found: unknown = typeof tree === "object" && tree !== null && "models" in tree ? tree.models : []
  const rows: readonly (readonly [string | undefined, unknown])[] = Array.isArray(found)
    ? found.map((row: unknown) => [undefined, row] as const)
    : Object.entries(typeof found === "object" && found !== null ? found : {})
  const user = rows.map(([id, row], index) => {
    const read = readModelRow(row, id)
    if (read.tag === "model") return read.model
    throw new Failure("CONFIG_INVALID", {
      where: `${path}:${lineOfKey((text ?? "").split("\n"), { id, index, key: read.key })}`,
      key: read.key,
      expected: read.expected,
      got: JSON.stringify(read.got) ?? "nothing",
    })
  })
  const limits = await loadLimits(env)
  const { models, duplicates } = mergeModels(user, followCatalogue(BUILT_IN_MODELS, limits.models.keys()))
  return { models, warnings: duplicates.map((duplicate) => warning("MODEL_ALIAS_TWICE", { ...duplicate })) }
}

/**
 * The line of the key in its row. If it is not there, the line of the row's header (the n-th `[[models]]`, or
 * `[models.<id>]`).
 */
const lineOfKey = (
  lines: readonly string[],
  { id, index, key }: { readonly id: string | undefined; readonly index: number; readonly key: string },
): number => {
  const headers = lines.flatMap((line, at) => (/^\s*\[\[?\s*models\b/.test(line) ? [at] : []))
  const header = id === undefined ? headers[index] : headers.find((at) => lines[at]?.includes(id))
  if (header === undefined) return 1
  const rest = lines.slice(header + 1)
  const end = rest.findIndex((line) => /^\s*\[/.test(line))
  const found = (end === -1 ? rest : rest.slice(0, end)).findIndex((line) =>
    new RegExp(`^\\s*["']?${key}["']?\\s*=`).test(line),
  )
  return header + found + 2
}
