/**
 * Our hook in the settings of Claude Code (`.claude/settings.json`) and Codex (`.codex/hooks.json`). Both hold
 *
 *   { "hooks": { "SessionStart": [ { "matcher": "compact", "hooks": [ { "type": "command", "command": "..." } ] } ] } }
 *
 * Edits are made in the text, not by writing the whole document anew: comments, order, numbers and spacing of everything
 * that is not ours stay as they are. Ours is a command that ends in `brief --host <host>` and names meridian.
 */
import { findNodeAtLocation, getNodeValue, parseTree, type Node, type ParseError } from "jsonc-parser"

import { insertLast, removeChild } from "./json-splice.ts"
import type { Edit } from "./settings-file.ts"

type Host = "claude" | "codex"

const MATCHER = "compact"
const TIMEOUT_SECONDS = 10
const EVENT = ["hooks", "SessionStart"]

export const addHook = (text: string | undefined, host: Host, command: string): Edit => {
  const source = text === undefined || text.trim() === "" ? "{}\n" : text
  const read = readDocument(source)
  if (read.kind === "invalid") return read
  const ours = findOurs(read.root, host)
  const [first] = ours
  if (first !== undefined) {
    if (first.command === command && first.matcher === MATCHER) return { kind: "keep", action: "unchanged" }
    const removed = removeAll(source, ours)
    return { kind: "write", action: "updated", text: append(removed, command) }
  }
  return { kind: "write", action: "installed", text: append(source, command) }
}

export const removeHook = (text: string | undefined, host: Host): Edit => {
  if (text === undefined || text.trim() === "") return { kind: "keep", action: "absent" }
  const read = readDocument(text)
  if (read.kind === "invalid") return read
  const ours = findOurs(read.root, host)
  if (ours.length === 0) return { kind: "keep", action: "absent" }
  const rest = removeAll(text, ours)
  // Nothing but the braces we made ourselves.
  return rest.replaceAll(/\s/g, "") === "{}"
    ? { kind: "delete", action: "removed" }
    : { kind: "write", action: "removed", text: rest }
}

interface OurHook {
  readonly group: number
  readonly handler: number
  readonly matcher: unknown
  readonly command: string
}

type Document =
  | { readonly kind: "read"; readonly root: Node }
  | { readonly kind: "invalid"; readonly problem: string }

/** The document, checked as far as we are going to touch it. */
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
  const event = findNodeAtLocation(root, EVENT)
  if (event !== undefined && event.type !== "array")
    return { kind: "invalid", problem: `"hooks.SessionStart" is not a list` }
  return { kind: "read", root }
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

const findOurs = (root: Node, host: Host): readonly OurHook[] => {
  const groups = findNodeAtLocation(root, EVENT)?.children ?? []
  return groups.flatMap((group, groupIndex) => {
    const handlers = findNodeAtLocation(group, ["hooks"])
    if (handlers?.type !== "array") return []
    const matcherNode = findNodeAtLocation(group, ["matcher"])
    const matcher: unknown = matcherNode === undefined ? undefined : getNodeValue(matcherNode)
    return (handlers.children ?? []).flatMap((handler, handlerIndex) => {
      const node = findNodeAtLocation(handler, ["command"])
      const command: unknown = node === undefined ? undefined : getNodeValue(node)
      return typeof command === "string" && isOurs(command, host)
        ? [{ group: groupIndex, handler: handlerIndex, matcher, command }]
        : []
    })
  })
}

const isOurs = (command: string, host: Host): boolean =>
  command.includes("meridian") && command.trimEnd().endsWith(` brief --host ${host}`)

const append = (text: string, command: string): string => {
  const group = { matcher: MATCHER, hooks: [{ type: "command", command, timeout: TIMEOUT_SECONDS }] }
  const root = parseTree(text) ?? EMPTY
  const hooks = findNodeAtLocation(root, ["hooks"])
  if (hooks === undefined) return insertLast(text, root, { key: "hooks", value: { SessionStart: [group] } })
  const event = findNodeAtLocation(root, EVENT)
  if (event === undefined) return insertLast(text, hooks, { key: "SessionStart", value: [group] })
  return insertLast(text, event, { value: group })
}

const EMPTY: Node = { type: "object", offset: 0, length: 2 }

/** From the last to the first, so that positions stay true. */
const removeAll = (text: string, ours: readonly OurHook[]): string => {
  let rest = text
  for (const { group, handler } of ours.toReversed()) {
    const node = findNodeAtLocation(parseTree(rest) ?? EMPTY, [...EVENT, group, "hooks", handler])
    if (node !== undefined) rest = removeWhole(rest, node)
  }
  return rest
}

/** What holds nothing but ours goes with it: the list of handlers with its group, the event, the hooks; never the root. */
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

/** A group is its handlers: without any, its matcher says nothing. */
const isGroup = (container: Node, child: Node): boolean =>
  container.type === "object" &&
  child.type === "property" &&
  child.children?.[0]?.value === "hooks" &&
  container.parent?.type === "array"
