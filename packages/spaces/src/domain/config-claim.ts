/** Makes a claim from a value in a configuration file, and removes a value from the file. */
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
 * Whether a path or glob of a project's file stays inside the project: relative, never upwards, and not an address.
 * Each alternative of a glob is checked.
 */
export const staysInside = (entry: unknown): boolean =>
  typeof entry === "string" &&
  !/(?:^|[{,])\s*[/~\\]|^[A-Za-z]:|:\/\//.test(entry) &&
  !entry.split(/[/\\{},]/).includes("..")
