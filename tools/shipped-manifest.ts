/**
 * The `package.json` of a package as it is installed, without what only its development needs: everything it runs with is
 * in its bundle.
 */
export interface ShippedManifest {
  readonly [field: string]: unknown
}

/** `has`: whether a path, relative to the package, is shipped. */
export const shippedManifest = (
  source: ShippedManifest,
  { has, engines }: { readonly has: (path: string) => boolean; readonly engines?: ShippedManifest },
): ShippedManifest => {
  const kept = SHIPPED.filter((field) => field in source).map((field) => [field, source[field]])
  const exports = shippedExports(source["exports"], has)
  return {
    ...Object.fromEntries(kept),
    ...(exports === undefined ? {} : { exports }),
    ...(engines === undefined ? {} : { engines }),
  }
}

const SHIPPED = [
  "name",
  "version",
  "description",
  "license",
  "type",
  "bin",
  "main",
  "files",
  "peerDependencies",
  "peerDependenciesMeta",
] as const

/** Only entry points that exist. Undefined when there are none: a program, not a library. */
const shippedExports = (exports: unknown, has: (path: string) => boolean): ShippedManifest | undefined => {
  if (typeof exports !== "object" || exports === null) return undefined
  const ways = Object.entries(exports).flatMap(([subpath, conditions]: readonly [string, unknown]) => {
    const targets = Object.entries(Object(conditions)).filter(
      ([condition, target]) =>
        !DEVELOPMENT.has(condition) && typeof target === "string" && has(target.replace(/^\.\//, "")),
    )
    return targets.some(([condition]) => condition === "default")
      ? [[subpath, Object.fromEntries(targets)] as const]
      : []
  })
  return ways.length === 0 ? undefined : Object.fromEntries(ways)
}

const DEVELOPMENT: ReadonlySet<string> = new Set(["meridian-source", "source"])
