/** How a claim is made of a value in a configuration file, and the file without it. */
import type { ConfigClaim } from "./claim.ts"
import type { ConfigFile } from "./config-layer.ts"
import { isTable } from "./table-rule.ts"

export const makeClaim = (
  file: ConfigFile,
  given: Pick<ConfigClaim, "kind" | "key" | "parts" | "shown"> & { readonly value: unknown },
): ConfigClaim => {
  const line = file.lines.get(given.key) ?? [...file.lines].find(([name]) => name.startsWith(given.key))?.[1]
  const where = line === undefined ? file.path : `${file.path}:${line}`
  return { ...given, value: JSON.stringify(given.value) ?? "null", where }
}

export const valueAt = (tree: unknown, parts: readonly string[]): unknown =>
  parts.reduce<unknown>(
    (inner, part) => (isTable(inner) && Object.hasOwn(inner, part) ? inner[part] : undefined),
    tree,
  )

export const withoutPart = (tree: unknown, [head = "", ...rest]: readonly string[]): unknown => {
  if (!isTable(tree) || !Object.hasOwn(tree, head)) return tree
  const { [head]: inner, ...others } = tree
  return rest.length === 0 ? others : { ...others, [head]: withoutPart(inner, rest) }
}

/**
 * Paths, globs or addresses of a project's file that stay with the project: relative, never upwards, and no address. A glob counts by
 * each of its alternatives.
 */
export const staysInside = (entry: unknown): boolean =>
  typeof entry === "string" &&
  !/(?:^|[{,])\s*[/~\\]|^[A-Za-z]:|:\/\//.test(entry) &&
  !entry.split(/[/\\{},]/).includes("..")
