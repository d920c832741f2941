/**
 * What a mention leads to. A user who names a file allows reading it. So inside the place, a rule that would ask does not;
 * a rule that denies still does. A file outside needs a rule that allows it. Links are followed before anything is decided.
 */
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

import { nearest, type PromptPart } from "@meridian/protocol"

import { isGlob, type Mention } from "../domain/mentions.ts"
import type { Expanded, ExpandRequest } from "../port/location.ts"
import { ToolError, type ToolContent } from "../port/tool.ts"
import { fileError } from "../tool/describe-error.ts"
import { compileGlob } from "../tool/glob-pattern.ts"
import { TOOL_LIMITS } from "../tool/limits.ts"
import { bare } from "../tool/open-verified.ts"
import type { NamedPlace } from "../tool/read-places.ts"
import {
  directoryOf,
  resolveInside,
  resolvePath,
  type Place,
  type ResolvedPath,
} from "../tool/resolve-path.ts"
import { walk } from "../tool/walk.ts"
import { EXPAND_LIMITS } from "./limits.ts"
import { readPart, sha256 } from "./read-part.ts"
import type { Room } from "./room.ts"

export interface Sight extends Place {
  readonly references: readonly NamedPlace[]
  readonly home: string | undefined
  readonly monotonic: () => number
  readonly readResource: (
    server: string,
    named: string,
    signal: AbortSignal,
  ) => Promise<readonly ToolContent[]>
}

export interface Asked extends ExpandRequest {
  readonly room: Room
}

type Seen = Expanded

/** Empty when the mention was an ordinary word. Never rejects for anything a mention can lead to. */
export const readMention = async (mention: Mention, sight: Sight, asked: Asked): Promise<Seen> => {
  try {
    return await look(mention, sight, asked)
  } catch (error) {
    if (asked.signal.aborted) return unreadable(mention.source, "Reading it took too long.")
    const told = fileError(error, mention.kind === "path" ? mention.path : mention.source)
    if (told.code === "not-found" && mention.kind === "path" && mention.loose) return NOTHING
    return unreadable(mention.source, told.message)
  }
}

const NOTHING: Seen = { parts: [], read: [] }

const unreadable = (source: string, problem: string): Seen => ({
  parts: [{ type: "unreadable", source, problem }],
  read: [],
})

const look = async (mention: Mention, sight: Sight, asked: Asked): Promise<Seen> => {
  switch (mention.kind) {
    case "path":
      return lookAtPath(mention, sight, asked)
    case "address":
      return lookAtPath({ ...mention, path: pathOf(mention.url), loose: false, literal: true }, sight, asked)
    case "reference":
      return lookAtReference(mention, sight, asked)
    case "resource":
      return lookAtResource(mention, sight, asked)
    case "agent": {
      const guidance = asked.agent(mention.name)
      if ("problem" in guidance) return unreadable(mention.source, guidance.problem)
      const { text } = guidance
      const found = {
        source: mention.source,
        name: mention.name,
        text,
        bytes: Buffer.byteLength(text),
        sha256: sha256(text),
      }
      return { parts: [asked.room.take({ type: "text", kind: "agent", ...found })], read: [] }
    }
  }
}

interface PathWanted {
  readonly source: string
  readonly path: string
  readonly lines?: { readonly from: number; readonly through?: number }
  readonly loose: boolean
  /** The path is not a glob, whatever characters it contains. */
  readonly literal?: boolean
}

const pathOf = (url: string): string => {
  try {
    return fileURLToPath(url)
  } catch {
    throw new ToolError("invalid-input", `${url.slice(0, 200)} is not the address of a file on this machine.`)
  }
}

const lookAtPath = async (wanted: PathWanted, sight: Sight, asked: Asked): Promise<Seen> => {
  const { source, lines } = wanted
  const named =
    wanted.path.startsWith("~/") && sight.home !== undefined
      ? join(sight.home, wanted.path.slice(2))
      : wanted.path
  const path = await resolvePath(sight, named)
  await judge(path, asked)
  try {
    const name = path.external ? path.absolute : path.fromHere
    const part = asked.room.take(await readPart(path, { source, name, lines, signal: asked.signal }))
    return {
      parts: [part],
      read: path.external || part.type === "unreadable" ? [] : [{ path: path.fromHere }],
    }
  } catch (error) {
    const told = fileError(error, named)
    if (told.code === "not-found" && wanted.literal !== true && isGlob(named))
      return lookAtGlob({ source, pattern: named }, sight, asked)
    throw told
  }
}

/** Throws when the rules forbid the path. */
const judge = async (path: ResolvedPath, { may }: Asked): Promise<void> => {
  if (path.external && may("external_directory", await directoryOf(path.absolute)) !== "allow")
    throw new ToolError(
      "denied",
      `${path.absolute} lies outside the project, and no rule allows external_directory there.`,
    )
  if (may("read", path.resource) === "deny")
    throw new ToolError("denied", `Reading ${path.resource} is refused by a rule.`)
}

const lookAtGlob = async (
  { source, pattern }: { readonly source: string; readonly pattern: string },
  sight: Sight,
  asked: Asked,
): Promise<Seen> => {
  const segments = pattern.replace(/^(?:\.\/)+/u, "").split("/")
  const first = segments.findIndex(isGlob)
  const start = await resolvePath(
    sight,
    segments.slice(0, first).join("/") || (pattern.startsWith("/") ? "/" : "."),
  )
  if (start.external) throw new ToolError("denied", "A pattern stays inside the project.")
  const compiled = compileGlob(segments.slice(first).join("/"), { braces: true })
  if (compiled.type === "refused")
    throw new ToolError("invalid-input", `The pattern is refused: ${compiled.why}.`)
  if (asked.may("glob", start.resource) === "deny")
    throw new ToolError("denied", `Searching ${start.resource} is refused by a rule.`)
  const found: string[] = []
  const { stopped } = await walk({
    start: start.absolute,
    root: (await resolvePath(sight, ".")).absolute,
    signal: asked.signal,
    monotonic: sight.monotonic,
    deadline: sight.monotonic() + TOOL_LIMITS.searchMs,
    onFile: (file) => {
      if (compiled.matches(file)) found.push(file)
    },
  })
  if (found.length === 0)
    throw new ToolError(
      "not-found",
      `No file matches ${pattern}${stopped === undefined ? "" : ` (${stopped})`}.`,
    )
  const files = found.toSorted().slice(0, asked.room.things())
  const parts = await readAll(files, { source, start }, asked)
  const left = found.length - files.length
  const note: readonly PromptPart[] =
    left === 0 && stopped === undefined
      ? []
      : [
          {
            type: "unreadable",
            source,
            problem: `${files.length} of ${found.length} files that match are here${stopped === undefined ? "" : ` (the search was stopped early: ${stopped})`}; find the others with a tool.`,
          },
        ]
  const read = parts.flatMap((part) => (part.type === "unreadable" ? [] : [{ path: part.name }]))
  return { parts: [...parts, ...note], read }
}

/** Reads a few at once and keeps their order. */
const readAll = async (
  files: readonly string[],
  { source, start }: { readonly source: string; readonly start: ResolvedPath },
  asked: Asked,
): Promise<readonly PromptPart[]> => {
  const read = async (file: string): Promise<PromptPart> => {
    const name = start.fromHere === "." ? file : `${start.fromHere}/${file}`
    const resource = start.resource === "." ? file : `${start.resource}/${file}`
    if (asked.may("read", resource) === "deny")
      return { type: "unreadable", source, problem: `Reading ${resource} is refused by a rule.` }
    try {
      const path = { ...bare(join(start.absolute, file)), named: name, resource, fromHere: name }
      return await readPart(path, { source, name, signal: asked.signal })
    } catch (error) {
      const told = fileError(error, name)
      return { type: "unreadable", source, problem: told.message }
    }
  }
  const parts: PromptPart[] = []
  for (let at = 0; at < files.length; at += EXPAND_LIMITS.filesAtOnce)
    parts.push(...(await Promise.all(files.slice(at, at + EXPAND_LIMITS.filesAtOnce).map(read))))
  return parts.map(asked.room.take)
}

const lookAtReference = async (
  { source, alias, path: named, lines }: Extract<Mention, { readonly kind: "reference" }>,
  sight: Sight,
  asked: Asked,
): Promise<Seen> => {
  const known = sight.references.find(({ name }) => name === alias)
  if (known === undefined) {
    const names = sight.references.map(({ name }) => name)
    const near = nearest(alias, names)
    throw new ToolError(
      "not-found",
      `There is no reference ${JSON.stringify(alias.slice(0, 100))}. ${near === undefined ? `There are: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`}`,
    )
  }
  const root = resolve(sight.directory, known.path)
  const path = await resolveInside({ root, directory: root }, named === "" ? "." : named)
  if (asked.may("read", path.absolute) === "deny")
    throw new ToolError("denied", `Reading ${path.absolute} is refused by a rule.`)
  const name = named === "" ? `ref:${alias}` : `ref:${alias}/${path.resource}`
  const part = asked.room.take(await readPart(path, { source, name, lines, signal: asked.signal }))
  return {
    parts: [part],
    read: part.type === "unreadable" ? [] : [{ path: path.resource, reference: alias }],
  }
}

const lookAtResource = async (
  { source, server, uri }: Extract<Mention, { readonly kind: "resource" }>,
  sight: Sight,
  asked: Asked,
): Promise<Seen> => {
  const name = `mcp:${server}/${uri}`
  if (asked.may("read", name) === "deny")
    throw new ToolError("denied", `Reading ${name} is refused by a rule.`)
  const content = await sight.readResource(server, uri, asked.signal)
  if (content.length === 0) throw new ToolError("not-found", `${name} holds nothing.`)
  return { parts: content.map((entry) => asked.room.take(resourcePart(entry, { source, name }))), read: [] }
}

const resourcePart = (
  entry: ToolContent,
  { source, name }: { readonly source: string; readonly name: string },
): PromptPart => {
  if (entry.type === "media") {
    const content = Buffer.from(entry.base64, "base64")
    const found = { source, name, bytes: content.length, sha256: sha256(content) }
    return { type: "media", mediaType: entry.mediaType, base64: entry.base64, ...found }
  }
  const isCut = Buffer.byteLength(entry.text) > EXPAND_LIMITS.thingTextBytes
  const text = isCut ? cutBytes(entry.text, EXPAND_LIMITS.thingTextBytes) : entry.text
  const found = { source, name, bytes: Buffer.byteLength(entry.text), sha256: sha256(text) }
  return { type: "text", kind: "resource", text, ...found, ...(isCut ? { cut: true } : {}) }
}

const cutBytes = (text: string, bytes: number): string =>
  new TextDecoder("utf-8").decode(Buffer.from(text).subarray(0, bytes), { stream: true })
