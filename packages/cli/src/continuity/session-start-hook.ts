/**
 * Our hook in the settings of Claude Code (`.claude/settings.json`) and Codex (`.codex/hooks.json`). Both hold
 *
 *   { "hooks": { "SessionStart": [ { "matcher": "compact", "hooks": [ { "type": "command", "command": "..." } ] } ] } }
 *
 * Edits are made in the text, not by writing the whole document anew: comments, order, numbers and spacing of everything
 * that is not ours stay as they are. Ours is a command that ends in `brief --host <host>` and names meridian.
 */
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  parseTree,
  type Node,
  type ParseError,
} from "jsonc-parser"

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
  const event = findNodeAtLocation(parseTree(text) ?? EMPTY, EVENT)
  return event === undefined
    ? change(text, EVENT, [group])
    : change(text, [...EVENT, event.children?.length ?? 0], group)
}

const EMPTY: Node = { type: "object", offset: 0, length: 0 }

/** From the last to the first, so that positions stay true; what becomes empty by it goes as well. */
const removeAll = (text: string, ours: readonly OurHook[]): string => {
  let rest = text
  for (const { group, handler } of ours.toReversed()) {
    const handlers = [...EVENT, group, "hooks"]
    rest = change(rest, [...handlers, handler], undefined)
    for (const path of [handlers, EVENT, ["hooks"]]) {
      const node = findNodeAtLocation(parseTree(rest) ?? EMPTY, path)
      if (node === undefined || (node.children ?? []).length > 0) break
      // A group without handlers goes whole, not only its list.
      rest = change(rest, path === handlers ? path.slice(0, -1) : path, undefined)
    }
  }
  return rest
}

const change = (text: string, path: readonly (string | number)[], value: unknown): string =>
  applyEdits(text, modify(text, [...path], value, { formattingOptions: formattingOf(text) }))

/** As the file is written already: tabs or its own number of blanks. */
const formattingOf = (text: string) => {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 4 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  }
}
