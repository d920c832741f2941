/**
 * The conversations of a project, in whichever harness they were held: transcripts of Claude Code and Codex, sessions of
 * OpenCode and of our engine. Only looked at, never written; what cannot be read is left out. Newest first.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs"
import { join } from "node:path"

import { objectAt, parseObject, textAt } from "@meridian/protocol"

import { stateFolder } from "../state-folder.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface Conversation {
  readonly harness: "claude" | "codex" | "opencode" | "direct"
  /** What the harness calls it. */
  readonly session: string
  readonly modifiedMs: number
  /** A transcript, or the database that holds it. */
  readonly path: string
}

export const CONVERSATION_LIMITS = { files: 300, codexFiles: 600, firstLineBytes: 64 * 1024 } as const

/** A conversation of a space, wherever its harness worked. */
export interface Chat {
  readonly chat: string
  readonly harness: string
  readonly session: string
  readonly cwd: string | undefined
}

/** Transcripts that are files: those of this folder, those of its chats and runs, and those our hooks were told of. */
export const findTranscripts = (
  env: Environment,
  root: string,
  chats: readonly Chat[],
): readonly Conversation[] => {
  const found = new Map<string, Conversation>()
  const all = [
    ...claudeFiles(env, root),
    ...chats.flatMap((chat) => claudeChat(env, chat)),
    ...codexFiles(env, root, new Set(chats.map(({ session }) => session))),
    ...rememberedFiles(env, root),
  ]
  for (const conversation of all)
    if (!found.has(conversation.path)) found.set(conversation.path, conversation)
  return [...found.values()]
    .toSorted((left, right) => right.modifiedMs - left.modifiedMs)
    .slice(0, CONVERSATION_LIMITS.files)
}

/** `projects/<folder with dashes>/<session>.jsonl`; a folder below the root has a name that begins the same way. */
const claudeFiles = (env: Environment, root: string): readonly Conversation[] => {
  const base = claudeProjects(env)
  const start = claudeName(root)
  return namesIn(base)
    .filter((name) => name === start || name.startsWith(`${start}-`))
    .flatMap((name) =>
      namesIn(join(base, name)).flatMap((file) => {
        const path = join(base, name, file)
        if (!file.endsWith(".jsonl")) return []
        // Another project may have a name that goes on with a dash.
        if (name !== start && !isInside(root, directoryIn(path))) return []
        return fileAt("claude", file.slice(0, -".jsonl".length), path)
      }),
    )
}

const claudeChat = (env: Environment, { harness, session, cwd }: Chat): readonly Conversation[] =>
  harness === "claude" && cwd !== undefined && /^[\w.-]{1,100}$/.test(session)
    ? fileAt("claude", session, join(claudeProjects(env), claudeName(cwd), `${session}.jsonl`))
    : []

const claudeProjects = (env: Environment): string =>
  join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? "", ".claude"), "projects")

const claudeName = (directory: string): string => directory.replaceAll(/[^A-Za-z0-9]/g, "-")

/** `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, the newest days first; its first line says where it was held. */
const codexFiles = (env: Environment, root: string, wanted: ReadonlySet<string>): readonly Conversation[] => {
  const base = join(env["CODEX_HOME"] || join(env["HOME"] ?? "", ".codex"), "sessions")
  const files: Conversation[] = []
  let looked = 0
  for (const year of newestNames(base))
    for (const month of newestNames(join(base, year)))
      for (const day of newestNames(join(base, year, month)))
        for (const file of newestNames(join(base, year, month, day))) {
          looked += 1
          if (looked > CONVERSATION_LIMITS.codexFiles) return files
          const path = join(base, year, month, day, file)
          const session = /^rollout-.{19}-(.{1,80})\.jsonl$/.exec(file)?.[1]
          if (session !== undefined && (wanted.has(session) || isInside(root, directoryIn(path))))
            files.push(...fileAt("codex", session, path))
        }
  return files
}

/** Hooks remember what they have read, wherever it lies. */
const rememberedFiles = (env: Environment, root: string): readonly Conversation[] => {
  const folder = join(stateFolder(env) ?? "", "transcripts")
  return namesIn(folder).flatMap((name) => {
    const about = parseObject(headOf(join(folder, name), 8 * 1024 * 1024))
    const path = textAt(about, "path")
    const session = textAt(objectAt(about, "about"), "id")
    const directory = textAt(objectAt(about, "about"), "directory")
    if (path === undefined || session === undefined || !isInside(root, directory)) return []
    return fileAt(path.includes("rollout-") ? "codex" : "claude", session, path)
  })
}

const fileAt = (harness: Conversation["harness"], session: string, path: string): readonly Conversation[] => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true ? [{ harness, session, path, modifiedMs: found.mtimeMs }] : []
}

/** The folder a conversation was held in, from the first lines that say it. */
const directoryIn = (path: string): string | undefined => {
  for (const line of headOf(path, CONVERSATION_LIMITS.firstLineBytes).split("\n").slice(0, 20)) {
    const found = parseObject(line)
    const directory = textAt(found, "cwd") ?? textAt(objectAt(found, "payload"), "cwd")
    if (directory !== undefined) return directory
  }
  // A first line too long to be parsed still says it early.
  return /"cwd":"((?:[^"\\]|\\.){1,4000})"/.exec(headOf(path, CONVERSATION_LIMITS.firstLineBytes))?.[1]
}

const headOf = (path: string, bytes: number): string => {
  try {
    const descriptor = openSync(path, "r")
    try {
      const size = Math.min(bytes, statSync(path).size)
      const buffer = Buffer.alloc(size)
      return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, size, 0))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ""
  }
}

export const isInside = (root: string, directory: string | undefined): boolean =>
  directory !== undefined && (directory === root || directory.startsWith(`${root}/`))

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const newestNames = (folder: string): readonly string[] => namesIn(folder).toSorted().toReversed()
