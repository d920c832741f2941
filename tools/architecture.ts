/** Which code may import which. The tables are the architecture; the code below only checks. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

import { parseSync } from "oxc-parser"

/** Package -> packages (or one entry of a package) it may import. All others are invisible to it. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  continuity: ["protocol"],
  engine: ["protocol", "continuity"],
  // Only how to open files of a foreign folder, nothing else of continuity.
  spaces: ["protocol", "continuity/files"],
  "opencode-plugin": ["protocol", "continuity"],
  server: ["protocol", "engine", "spaces"],
  cli: ["protocol", "continuity", "engine", "spaces", "server"],
  web: ["protocol", "server/client", "server/contract"],
  testkit: ["protocol", "engine", "spaces"],
}

/** Folder -> sibling folders it may import, inside one package, inner to outer. */
export const LAYERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  continuity: {
    domain: [],
    transcript: ["domain"],
    read: ["domain", "transcript"],
  },
  engine: {
    domain: [],
    port: ["domain"],
    store: ["domain", "port"],
    model: ["domain", "port"],
    context: ["domain", "port"],
    tool: ["domain", "port"],
    expand: ["domain", "port", "tool"],
    extension: ["domain", "port", "context", "tool"],
    files: ["domain", "port"],
    session: ["domain", "port"],
    reading: ["domain", "port", "session"],
    copy: ["domain", "port", "session"],
    compaction: ["domain", "port", "session"],
    turn: ["domain", "port", "session", "compaction"],
    schedule: ["domain", "port", "session", "compaction", "turn"],
    undo: ["domain", "port", "session", "schedule"],
  },
  spaces: {
    domain: [],
    port: ["domain"],
    store: ["domain", "port"],
    harness: ["domain", "port"],
    repository: ["domain", "store"],
    operation: ["domain", "port", "store", "harness", "repository"],
  },
  server: {
    contract: [],
    client: ["contract"],
    mcp: [],
    // A node asks other nodes as a client does.
    http: ["contract", "client", "mcp", "telemetry"],
  },
  web: {
    domain: [],
    state: ["domain"],
    view: ["domain", "state"],
  },
}

/** Code that must run anywhere -> the only outside modules it may import. */
export const PURE: Readonly<Record<string, readonly string[]>> = {
  "packages/protocol/src/": ["valibot", "@valibot/to-json-schema"],
  "packages/continuity/src/domain/": ["yaml"],
  "packages/engine/src/domain/": [],
  "packages/spaces/src/domain/": [],
  // The page imports these two.
  "packages/server/src/client/": [],
  "packages/server/src/contract/": [],
}

/** Folders whose `index.ts` lists what others may use. Everything else in them is private. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  engine: ["extension", "session", "reading", "copy", "compaction", "turn", "schedule", "undo"],
}

export interface Source {
  readonly file: string
  readonly imports: readonly string[]
}

export const readSources = (root: string): readonly Source[] =>
  globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => {
      const { module } = parseSync(file, readFileSync(join(root, file), "utf8"))
      const imported = module.staticImports.map((entry) => entry.moduleRequest.value)
      const reexported = module.staticExports.flatMap((entry) =>
        entry.entries.flatMap((item) => item.moduleRequest?.value ?? []),
      )
      return { file, imports: [...new Set([...imported, ...reexported])] }
    })

export const findViolations = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap(({ file, imports }) =>
    imports.flatMap((target) => {
      const reason = target.startsWith(".") ? checkInside(file, target) : checkOutside(file, target)
      return reason === undefined ? [] : [`${file}: ${reason}`]
    }),
  )

/**
 * One line per import cycle: the shortest path around. An `import type` counts, because a reader has to know both files to
 * understand either.
 */
export const findCircles = (sources: readonly Source[]): readonly string[] => {
  const files = new Set(sources.map(({ file }) => file))
  const graph = new Map(
    sources.map(({ file, imports }) => [
      file,
      imports
        .filter((target) => target.startsWith("."))
        .map((target) => join(dirname(file), target))
        .filter((target) => files.has(target)),
    ]),
  )
  const seen = new Set<string>()
  return [...files].flatMap((file) => {
    if (seen.has(file)) return []
    const circle = shortestCircle(graph, file)
    if (circle === undefined) return []
    for (const each of circle) seen.add(each)
    return [`imports in a circle: ${[...circle, file].join(" -> ")}`]
  })
}

/** From a file back to itself, or undefined. */
const shortestCircle = (
  graph: ReadonlyMap<string, readonly string[]>,
  start: string,
): readonly string[] | undefined => {
  const cameFrom = new Map<string, string>()
  let edge = [start]
  while (edge.length > 0) {
    const next: string[] = []
    for (const file of edge)
      for (const target of graph.get(file) ?? []) {
        if (target === start) return wayTo(cameFrom, start, file)
        if (cameFrom.has(target)) continue
        cameFrom.set(target, file)
        next.push(target)
      }
    edge = next
  }
  return undefined
}

const wayTo = (cameFrom: ReadonlyMap<string, string>, start: string, end: string): readonly string[] => {
  const way = [end]
  for (let file = end; file !== start;) {
    file = cameFrom.get(file) ?? start
    way.unshift(file)
  }
  return way
}

const checkInside = (file: string, target: string): string | undefined => {
  const [, home = "", , folder = ""] = file.split("/")
  const path = relative(`packages/${home}/src`, join(dirname(file), target))
  if (path.startsWith("..")) return `reaches outside its package (${target})`
  const allowed = LAYERS[home]?.[folder]
  const other = path.split("/")[0] ?? ""
  if (other !== folder && ROOMS[home]?.includes(other) === true && path !== `${other}/index.ts`)
    return `only what ${other}/index.ts names may be imported from there (${target})`
  if (allowed === undefined || other === folder || allowed.includes(other)) return undefined
  return `layer ${folder} may not import ${other}`
}

const checkOutside = (file: string, target: string): string | undefined => {
  const home = file.split("/")[1] ?? ""
  const sibling = /^@meridian\/([^/]+)/.exec(target)?.[1]
  if (sibling !== undefined)
    return [sibling, target.slice("@meridian/".length)].some(
      (name) => PACKAGES[home]?.includes(name) === true,
    )
      ? undefined
      : `package ${home} may not import ${sibling}`
  const allowed = Object.entries(PURE).find(([path]) => file.startsWith(path))?.[1]
  return allowed === undefined || allowed.includes(target) ? undefined : `pure code may not import ${target}`
}
