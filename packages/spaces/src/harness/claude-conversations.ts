/**
 * How Claude Code keeps its conversations: `projects/<folder>/<id>.jsonl` in its own folder, and those of sub-agents
 * in `projects/<folder>/<id>/subagents/`. A line of an answer carries `message.{id,model,usage}`. Each part of an
 * answer has a line, with the usage so far. We only read, and nothing here throws.
 */
import { access, readdir, stat } from "node:fs/promises"
import { join } from "node:path"

import {
  countAt,
  type HarnessSessionId,
  type JsonObject,
  objectAt,
  parseObject,
  textAt,
  wordAt,
} from "@meridian/protocol"

import type {
  Environment,
  KeptRequest,
  KeptRequests,
  KeptSearch,
  SessionLookup,
  SessionSearch,
  WordSearch,
} from "../port/harness.ts"
import { addedLines } from "./added-lines.ts"
import { holdsWords } from "./holds-words.ts"
import { LIMITS } from "./limits.ts"
import { asSession } from "./stream-parser.ts"

/** The request of a compaction is in no line; other sources report its usage. */
export const keptByClaude = (search: KeptSearch): KeptRequests => {
  const readers = new Map<string, ReturnType<typeof addedLines>>()
  const requests = new Map<string, KeptRequest>()
  let own: readonly string[] = []
  return async () => {
    if (own.length === 0) own = await conversationFiles(search)
    const files = [...own, ...(await Promise.all(own.map(subagentFiles))).flat()]
    for (const path of files) {
      const read = readers.get(path) ?? addedLines(path)
      readers.set(path, read)
      await read((line) => {
        const answer = line.includes('"usage"') ? answerIn(parseObject(line)) : undefined
        if (answer !== undefined && answer.request.atMs >= search.sinceMs)
          requests.set(answer.id, answer.request)
      })
    }
    return [...requests.values()]
  }
}

/** Every message, and every addition of a hook, is a line with its time. */
export const wordsInClaude = async (search: WordSearch): Promise<boolean> => {
  const found = await Promise.all((await conversationFiles(search)).map((path) => holdsWords(path, search)))
  return found.includes(true)
}

const answerIn = (
  line: JsonObject | undefined,
): { readonly id: string; readonly request: KeptRequest } | undefined => {
  const message = objectAt(line, "message")
  const usage = objectAt(message, "usage")
  const id = textAt(message, "id")
  if (wordAt(line, "type") !== "assistant" || usage === undefined || id === undefined) return undefined
  return {
    id,
    request: {
      atMs: Date.parse(wordAt(line, "timestamp")),
      model: wordAt(message, "model"),
      inputTokens: countAt(usage, "input_tokens"),
      cacheWriteTokens: countAt(usage, "cache_creation_input_tokens"),
      cachedInputTokens: countAt(usage, "cache_read_input_tokens"),
      outputTokens: countAt(usage, "output_tokens"),
    },
  }
}

const subagentFiles = async (conversation: string): Promise<readonly string[]> => {
  const folder = join(conversation.slice(0, -".jsonl".length), "subagents")
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .slice(0, LIMITS.subagentFiles)
    .map((name) => join(folder, name))
}

/** Claude keeps a conversation from its first message on. If its folder of conversations is missing, we cannot tell. */
export const isConversationKept = async (lookup: SessionLookup): Promise<boolean> => {
  const isThere = await access(conversations(lookup.environment)).then(
    () => true,
    () => false,
  )
  return !isThere || (await conversationFiles(lookup)).length > 0
}

/** A conversation that continued elsewhere has a file for each directory. */
export const conversationFiles = async ({ id, environment }: SessionLookup): Promise<readonly string[]> => {
  const root = conversations(environment)
  const folders = await readdir(root).catch(() => [])
  const looks = folders.map(async (folder) => {
    const path = join(root, folder, `${id}.jsonl`)
    return await access(path).then(
      () => [path],
      () => [],
    )
  })
  return (await Promise.all(looks)).flat()
}

const conversations = (environment: Environment): string =>
  join(environment["CLAUDE_CONFIG_DIR"] ?? join(environment["HOME"] ?? "", ".claude"), "projects")

/** Needed only if the person chose the session by hand: the newest conversation of that directory. */
export const findConversation = async (search: SessionSearch): Promise<HarnessSessionId | undefined> => {
  const { environment, cwd, startedAtMs, taken = [] } = search
  const folder = join(conversations(environment), cwd.replace(/[^A-Za-z0-9]/g, "-"))
  try {
    const names = (await readdir(folder))
      .filter((name) => name.endsWith(".jsonl"))
      .slice(0, LIMITS.sessionFiles)
    const files = await Promise.all(
      names.map(async (name) => ({ id: name.slice(0, -6), at: (await stat(join(folder, name))).mtimeMs })),
    )
    const newest = files
      .filter(({ id, at }) => at >= startedAtMs - 1000 && !taken.includes(id))
      .reduce((best, file) => (file.at > best.at ? file : best), { id: "", at: 0 })
    return asSession(newest.id)
  } catch {
    return undefined
  }
}
