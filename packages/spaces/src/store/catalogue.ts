/** The models this project knows: the built-in table and `.meridian/models.toml`, which is read only when it exists. */
import { join } from "node:path"

import { Failure } from "@meridian/protocol"

import { mergeModels, readModelRow, type Model } from "../domain/model-catalogue.ts"
import { warning, type Warning } from "../domain/warning.ts"
import { parseToml, readConfigText } from "./config-file.ts"

export interface Catalogue {
  readonly models: readonly Model[]
  readonly warnings: readonly Warning[]
}

export const loadCatalogue = async (root: string): Promise<Catalogue> => {
  const path = join(root, "models.toml")
  const text = await readConfigText(path)
  const tree: unknown = text === undefined ? {} : await parseToml(path, text)
  const found: unknown = typeof tree === "object" && tree !== null && "models" in tree ? tree.models : []
  const rows: readonly (readonly [string | undefined, unknown])[] = Array.isArray(found)
    ? found.map((row: unknown) => [undefined, row] as const)
    : Object.entries(typeof found === "object" && found !== null ? found : {})
  const user = rows.map(([id, row], index) => {
    const read = readModelRow(row, id)
    if (read.tag === "model") return read.model
    throw new Failure("CONFIG_INVALID", {
      where: `${path}:${lineOfRow(text ?? "", id, index)}`,
      key: read.key,
      expected: read.expected,
      got: JSON.stringify(read.got) ?? "nothing",
    })
  })
  const { models, duplicates } = mergeModels(user)
  return { models, warnings: duplicates.map((duplicate) => warning("MODEL_ALIAS_TWICE", { ...duplicate })) }
}

/** The header of the row: the n-th `[[models]]`, or `[models.<id>]`. */
const lineOfRow = (text: string, id: string | undefined, index: number): number => {
  const headers = text
    .split("\n")
    .flatMap((line, at) => (/^\s*\[\[?\s*models\b/.test(line) ? [[at + 1, line] as const] : []))
  const header = id === undefined ? headers[index] : headers.find(([, line]) => line.includes(id))
  return header?.[0] ?? 1
}
