/**
 * `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`: the file codex writes for every thread. The
 * first line is `{"type":"session_meta","payload":{"id","cwd","source",…}}`. Lines
 * `{"type":"event_msg","payload":{"type":"token_count", "info":{"total_token_usage":{…}}}}` carry the tokens of the
 * whole thread, lines `token_usage_record` those of one ended request, and `turn_context` the model. We only read it,
 * and nothing here throws.
 */
import { open, readdir, realpath, stat } from "node:fs/promises"
import { join } from "node:path"

import {
  countAt,
  type HarnessSessionId,
  type JsonObject,
  objectAt,
  parseObject,
  textAt,
} from "@meridian/protocol"

import type {
  Environment,
  KeptRequest,
  KeptRequests,
  KeptSearch,
  SessionLookup,
  SessionSearch,
  Usage,
  WordSearch,
} from "../port/harness.ts"
import { addedLines } from "./added-lines.ts"
import { holdsWords } from "./holds-words.ts"
import { LIMITS } from "./limits.ts"
import { asSession } from "./stream-parser.ts"

/**
 * The newest thread that a person started in this directory since the start. Threads of `codex exec` and of
 * sub-agents do not count.
 */
export const findRollout = async (search: SessionSearch): Promise<HarnessSessionId | undefined> => {
  const cwd = await realPath(search.cwd)
  const recent = await Promise.all(
    (await rolloutFiles(search.environment, 3)).map(async (path) => ({ path, at: await modifiedAt(path) })),
  )
  const candidates = recent
    .filter(({ at }) => at >= search.startedAtMs - 1000)
    .sort((left, right) => right.at - left.at)
  for (const { path } of candidates) {
    const id = await threadIn(path, cwd)
    if (id !== undefined && search.taken?.includes(id) !== true) return id
  }
  return undefined
}

/** Whether codex keeps the thread. Its first line is written before the first request. */
export const isInRollout = async (lookup: SessionLookup): Promise<boolean> =>
  (await rolloutOf(lookup)) !== undefined

const rolloutOf = async ({ id, environment }: SessionLookup): Promise<string | undefined> =>
  (await rolloutFiles(environment, Number.POSITIVE_INFINITY, `-${id}.jsonl`)).at(0)

export const usageInRollout = async (lookup: SessionLookup): Promise<Usage | undefined> => {
  const path = await rolloutOf(lookup)
  if (path === undefined) return undefined
  const lines = (await readPart(path, "end", LIMITS.rolloutTailBytes)).split("\n").map(parseObject)
  const counted = lines.map(totalIn).findLast((total) => total !== undefined)
  if (counted === undefined) return undefined
  const cached = countAt(counted, "cached_input_tokens")
  return {
    inputTokens: Math.max(0, countAt(counted, "input_tokens") - cached),
    cachedInputTokens: cached,
    outputTokens: countAt(counted, "output_tokens"),
  }
}

export const wordsInRollout = async (search: WordSearch): Promise<boolean> => {
  const path = await rolloutOf(search)
  return path !== undefined && (await holdsWords(path, search))
}

export const keptByCodex = (search: KeptSearch): KeptRequests => {
  const requests: KeptRequest[] = []
  let read: ReturnType<typeof addedLines> | undefined
  let model = ""
  return async () => {
    const path = read === undefined ? await rolloutOf(search) : undefined
    if (path !== undefined) read = addedLines(path)
    await read?.((text) => {
      if (!KEPT_LINE.test(text.slice(0, KEPT_LINE_START))) return
      const line = parseObject(text)
      const payload = objectAt(line, "payload")
      model = textAt(payload, "model") ?? model
      const request = requestIn(line, model)
      if (request !== undefined && request.atMs >= search.sinceMs) requests.push(request)
    })
    return requests
  }
}

/** Lines worth parsing. The others may be long. */
const KEPT_LINE = /"type":"(?:token_usage_record|turn_context)"/
const KEPT_LINE_START = 200

const requestIn = (line: JsonObject | undefined, model: string): KeptRequest | undefined => {
  const usage = objectAt(objectAt(line, "payload"), "usage")
  if (textAt(line, "type") !== "token_usage_record" || usage === undefined) return undefined
  const cached = countAt(usage, "cached_input_tokens")
  const written = countAt(usage, "cache_write_input_tokens")
  return {
    atMs: Date.parse(textAt(line, "timestamp") ?? ""),
    model,
    inputTokens: Math.max(0, countAt(usage, "input_tokens") - cached - written),
    cacheWriteTokens: written,
    cachedInputTokens: cached,
    outputTokens: countAt(usage, "output_tokens"),
  }
}

const totalIn = (line: JsonObject | undefined): JsonObject | undefined => {
  const payload = objectAt(line, "payload")
  if (textAt(payload, "type") !== "token_count") return undefined
  return objectAt(objectAt(payload, "info"), "total_token_usage")
}

const threadIn = async (path: string, cwd: string): Promise<HarnessSessionId | undefined> => {
  const [first = ""] = (await readPart(path, "start", LIMITS.rolloutHeadBytes)).split("\n", 1)
  const meta = objectAt(parseObject(first), "payload")
  const source = meta?.["source"] ?? "cli"
  if (source !== "cli" && source !== "vscode") return undefined
  const where = textAt(meta, "cwd")
  if (where === undefined || (await realPath(where)) !== cwd) return undefined
  return asSession(textAt(meta, "id") ?? ID_IN_NAME.exec(path)?.[1] ?? "")
}

const ID_IN_NAME = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i

/** Newest days first. Folders are named after dates, so their names sort. */
const rolloutFiles = async (
  environment: Environment,
  days: number,
  ending = ".jsonl",
): Promise<readonly string[]> => {
  const root = join(environment["CODEX_HOME"] ?? join(environment["HOME"] ?? "", ".codex"), "sessions")
  const found: string[] = []
  let seen = 0
  let folders = 0
  for (const year of await namesIn(root))
    for (const month of await namesIn(join(root, year)))
      for (const day of await namesIn(join(root, year, month))) {
        if (folders >= days || seen >= LIMITS.sessionFiles) return found
        folders += 1
        const names = await namesIn(join(root, year, month, day))
        seen += names.length
        found.push(
          ...names.filter((name) => name.endsWith(ending)).map((name) => join(root, year, month, day, name)),
        )
      }
  return found
}

const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).sort().toReversed()
  } catch {
    return []
  }
}

const modifiedAt = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).mtimeMs
  } catch {
    return 0
  }
}

const realPath = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch {
    return path
  }
}

const readPart = async (path: string, part: "start" | "end", bytes: number): Promise<string> => {
  try {
    await using file = await open(path, "r")
    const { size } = await file.stat()
    const length = Math.min(size, bytes)
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(length),
      position: part === "start" ? 0 : size - length,
    })
    return buffer.toString("utf8", 0, bytesRead)
  } catch {
    return ""
  }
}
