/** Finds the route of an address. Segments are split before they are decoded, so an id with a slash stays one segment. */
import type { Route } from "../contract/contract.ts"

export interface Entry<Handler> {
  readonly route: Route
  readonly handle: Handler
}

export type Found<Handler> =
  | {
      readonly tag: "found"
      readonly entry: Entry<Handler>
      readonly parameters: Readonly<Record<string, string>>
    }
  | { readonly tag: "method"; readonly allowed: readonly string[] }
  | { readonly tag: "none" }

export interface RouteTable<Handler> {
  readonly find: (method: string, path: string) => Found<Handler>
}

interface Node<Handler> {
  readonly words: Map<string, Node<Handler>>
  parameter: { readonly name: string; readonly node: Node<Handler> } | undefined
  readonly methods: Map<string, Entry<Handler>>
}

const makeNode = <Handler>(): Node<Handler> => ({
  words: new Map(),
  parameter: undefined,
  methods: new Map(),
})

export const makeRouteTable = <Handler>(entries: readonly Entry<Handler>[]): RouteTable<Handler> => {
  const root = makeNode<Handler>()
  for (const entry of entries) {
    const node = segmentsOf(entry.route.path).reduce(descend, root)
    if (node.methods.has(entry.route.method)) throw new TypeError(`two routes at ${entry.route.path}`)
    node.methods.set(entry.route.method, entry)
  }
  return { find: (method, path) => find(root, method, path) }
}

const descend = <Handler>(node: Node<Handler>, segment: string): Node<Handler> => {
  if (!segment.startsWith(":")) {
    const next = node.words.get(segment) ?? makeNode<Handler>()
    node.words.set(segment, next)
    return next
  }
  const name = segment.slice(1)
  node.parameter ??= { name, node: makeNode() }
  if (node.parameter.name !== name) throw new TypeError(`two names for one segment: ${name}`)
  return node.parameter.node
}

const find = <Handler>(root: Node<Handler>, method: string, path: string): Found<Handler> => {
  const parameters: Record<string, string> = {}
  let node = root
  for (const segment of segmentsOf(path)) {
    const word = node.words.get(segment)
    if (word !== undefined) {
      node = word
      continue
    }
    const value = decode(segment)
    if (node.parameter === undefined || value === undefined || value === "") return { tag: "none" }
    parameters[node.parameter.name] = value
    node = node.parameter.node
  }
  const entry = node.methods.get(method)
  if (entry !== undefined) return { tag: "found", entry, parameters }
  return node.methods.size === 0 ? { tag: "none" } : { tag: "method", allowed: [...node.methods.keys()] }
}

const segmentsOf = (path: string): readonly string[] => path.split("/").slice(1)

const decode = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
