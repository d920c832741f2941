/**
 * Our hooks in the settings of Claude Code (`.claude/settings.json`) and Codex (`.codex/hooks.json`). Both hold
 *
 *   { "hooks": { "SessionStart": [ { "matcher": "compact", "hooks": [ { "type": "command", "command": "..." } ] } ] } }
 *
 * Edits change the text in place instead of rewriting the document, so comments, order, numbers and spacing of
 * everything else stay as they are. Our hook is a meridian command with `brief --host <host>`. Flags that a person
 * added after it are kept.
 */
import { findNodeAtLocation, getNodeValue, parseTree, type Node, type ParseError } from "jsonc-parser"

import { insertLast, removeChild } from "./json-splice.ts"
import type { Edit } from "./settings-file.ts"

type Host = "claude" | "codex"

interface HookPlace {
  readonly event: string
  readonly matcher?: string
  /** Fields beside the command. */
  readonly more?: Readonly<Record<string, unknown>>
}

/**
 * The output of `SessionStart` after a compaction is in the next request. Claude Code passes its summary only to
 * `PostCompact`, which runs later. If the host does not wait for that hook, its output reaches the request after the
 * next.
 */
const PLACES: Readonly<Record<Host, readonly HookPlace[]>> = {
  claude: [
    { event: "SessionStart", matcher: "compact" },
    { event: "PostCompact", more: { async: true } },
  ],
  codex: [{ event: "SessionStart", matcher: "compact" }],
}

const TIMEOUT_SECONDS = 10

export const addHooks = (text: string | undefined, host: Host, program: string): Edit => {
  const source = text === undefined || text.trim() === "" ? "{}\n" : text
  const read = readDocument(source)
  if (read.kind === "invalid") return read
  const ours = findOurs(read.root, host)
  const command = `${program} brief --host ${host}${ours[0]?.flags ?? ""}`
  if (isComplete(ours, host, command)) return { kind: "keep", action: "unchanged" }
  const added = PLACES[host].reduce(
    (document, place) => append(document, place, command),
    removeAll(source, ours),
  )
  return { kind: "write", action: ours.length === 0 ? "installed" : "updated", text: added }
}

export const removeHooks = (text: string | undefined, host: Host): Edit => {
  if (text === undefined || text.trim() === "") return { kind: "keep", action: "absent" }
  const read = readDocument(text)
  if (read.kind === "invalid") return read
  const ours = findOurs(read.root, host)
  if (ours.length === 0) return { kind: "keep", action: "absent" }
  const rest = removeAll(text, ours)
  // Nothing is left but the braces we made ourselves.
  return rest.replaceAll(/\s/g, "") === "{}"
    ? { kind: "delete", action: "removed" }
    : { kind: "write", action: "removed", text: rest }
}

interface OurHook {
  readonly event: string
  readonly group: number
  readonly handler: number
  readonly matcher: unknown
  readonly command: string
  readonly flags: string
}

const isComplete = (ours: readonly OurHook[], host: Host, command: string): boolean =>
  ours.length === PLACES[host].length &&
  PLACES[host].every(({ event, matcher }) =>
    ours.some((hook) => hook.event === event && hook.matcher === matcher && hook.command === command),
  )

type Document =
  | { readonly kind: "read"; readonly root: Node }
  | { readonly kind: "invalid"; readonly problem: string }

/** The document, checked as far as we will touch it. */
const readDocument = (text: string): Document => {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: false })
  const [error] = errors
  if (root === undefined || error !== undefined)
    return { kind: "invalid", problem: `not valid JSON near line ${lineOf(text, error?.offset ?? 0)}` }
  if (root.type !== "object") return { kind: "invalid", problem: "not a JSON object" }
  const hooks = findNodeAtLocation(root, ["hooks"])
  if (hooks !== undefined && hooks.type !== "object")
    return { kind: "invalid", problem: `"hooks" is not an object` }
  const odd = EVENTS.find((event) => {
    const found = findNodeAtLocation(root, ["hooks", event])
    return found !== undefined && found.type !== "array"
  })
  return odd === undefined
    ? { kind: "read", root }
    : { kind: "invalid", problem: `"hooks.${odd}" is not a list` }
}

const EVENTS: readonly string[] = [
  ...new Set(Object.values(PLACES).flatMap((places) => places.map(({ event }) => event))),
]

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

const findOurs = (root: Node, host: Host): readonly OurHook[] =>
  EVENTS.flatMap((event) =>
    (findNodeAtLocation(root, ["hooks", event])?.children ?? []).flatMap((group, groupIndex) => {
      const handlers = findNodeAtLocation(group, ["hooks"])
      if (handlers?.type !== "array") return []
      const matcherNode = findNodeAtLocation(group, ["matcher"])
      const matcher: unknown = matcherNode === undefined ? undefined : getNodeValue(matcherNode)
      return (handlers.children ?? []).flatMap((handler, handlerIndex) => {
        const node = findNodeAtLocation(handler, ["command"])
        const command: unknown = node === undefined ? undefined : getNodeValue(node)
        const flags = typeof command === "string" ? flagsOf(command, host) : undefined
        return typeof command !== "string" || flags === undefined
          ? []
          : [{ event, group: groupIndex, handler: handlerIndex, matcher, command, flags }]
      })
    }),
  )

/** The flags a person added after our command. Undefined if the command is not ours. */
const flagsOf = (command: string, host: Host): string | undefined => {
  const match = /^(.*meridian.*) brief --host (claude|codex)((?: --max-tokens \d+)?)\s*$/.exec(command)
  return match?.[2] === host ? match[3] : undefined
}

const groupOf = ({ matcher, more }: HookPlace, command: string): object => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [{ type: "command", command, ...more, timeout: TIMEOUT_SECONDS }],
})

const append = (text: string, place: HookPlace, command: string): string => {
  const group = groupOf(place, command)
  const root = parseTree(text) ?? EMPTY
  const hooks = findNodeAtLocation(root, ["hooks"])
  if (hooks === undefined) return insertLast(text, root, { key: "hooks", value: { [place.event]: [group] } })
  const event = findNodeAtLocation(root, ["hooks", place.event])
  if (event === undefined) return insertLast(text, hooks, { key: place.event, value: [group] })
  return insertLast(text, event, { value: group })
}

const EMPTY: Node = { type: "object", offset: 0, length: 2 }

/** From the last to the first, so that positions stay correct. */
const removeAll = (text: string, ours: readonly OurHook[]): string => {
  let rest = text
  for (const { event, group, handler } of ours.toReversed()) {
    const node = findNodeAtLocation(parseTree(rest) ?? EMPTY, ["hooks", event, group, "hooks", handler])
    if (node !== undefined) rest = removeWhole(rest, node)
  }
  return rest
}

/**
 * A container that holds only our hook goes with it: the group with its handlers, the event, the hooks. Never the
 * root.
 */
const removeWhole = (text: string, node: Node): string => {
  let child = node
  let container = child.parent
  while (
    container?.parent !== undefined &&
    (container.children?.length === 1 || container.type === "property" || isGroup(container, child))
  ) {
    child = container
    container = child.parent
  }
  return container === undefined ? text : removeChild(text, container, child)
}

/** Without handlers, a group's matcher means nothing. */
const isGroup = (container: Node, child: Node): boolean =>
  container.type === "object" &&
  child.type === "property" &&
  child.children?.[0]?.value === "hooks" &&
  container.parent?.type === "array"
