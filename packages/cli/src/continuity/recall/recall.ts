/**
 * Searches everything that was said in a project, in every harness, and reads a stretch of it. Bounded in time, in hits
 * and in text; secrets are hidden. The newest conversations are looked at first, so that what is cut is the oldest.
 */
import { excerptOf, hideSecrets, readQuery, scoreOf, secretsIn, type Query } from "@meridian/continuity"
import { Failure } from "@meridian/protocol"

import { readChats } from "./chats.ts"
import { findTranscripts, type Conversation } from "./conversations.ts"
import { findEngineSessions, readEngineSession } from "./engine-store.ts"
import type { Entry } from "./entry.ts"
import { findOpencodeSessions, readOpencodeSession } from "./opencode-store.ts"
import { transcriptEntries } from "./transcript-entries.ts"

export const RECALL_LIMITS = {
  hits: 10,
  mostHits: 50,
  excerpt: 400,
  entries: 60,
  entryLength: 4_000,
  textLength: 16_000,
  timeMs: 6_000,
  around: 6,
} as const

export interface RecallScene {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the project. */
  readonly root: string
  /** `.meridian` of it. */
  readonly stateRoot: string
  /** Milliseconds that only go forward. */
  readonly clock: () => number
  readonly signal: AbortSignal
}

export interface Hit {
  /** `claude:8956b66f#120`, for `expand`. */
  readonly place: string
  readonly harness: Conversation["harness"]
  readonly session: string
  readonly role: Entry["role"]
  readonly time: number | undefined
  readonly text: string
}

export interface Recalled {
  readonly hits: readonly Hit[]
  readonly conversations: number
  /** Some conversations were not looked at: there was no time. */
  readonly isIncomplete: boolean
}

export const recall = async (
  scene: RecallScene,
  asked: {
    readonly query: string
    readonly session?: string | undefined
    readonly limit?: number | undefined
  },
): Promise<Recalled> => {
  const query = readQuery(asked.query)
  if (query.words.length === 0)
    throw new Failure("USAGE", { problem: "the query has no words.", next: "name what you look for." })
  const until = scene.clock() + RECALL_LIMITS.timeMs
  const isLate = (): boolean => scene.clock() > until || scene.signal.aborted
  const all = await conversationsOf(scene)
  const wanted = asked.session === undefined ? all : all.filter(isOf(scene, asked.session))
  const found: Ranked[] = []
  let looked = 0
  for (const conversation of wanted) {
    if (isLate()) break
    looked += 1
    found.push(...(await search(conversation, query, isLate)))
  }
  const most = Math.min(asked.limit ?? RECALL_LIMITS.hits, RECALL_LIMITS.mostHits)
  const secrets = secretsIn(scene.env)
  const best = found.toSorted((left, right) => right.rank - left.rank).slice(0, most)
  return {
    hits: best.map(({ conversation, entry }) => ({
      place: placeOf(conversation, entry.number),
      harness: conversation.harness,
      session: conversation.session,
      role: entry.role,
      time: entry.time,
      text: excerptOf(hideSecrets(entry.text, secrets), query, RECALL_LIMITS.excerpt),
    })),
    conversations: looked,
    isIncomplete: looked < wanted.length || isLate(),
  }
}

export interface Expanded {
  readonly place: string
  readonly harness: Conversation["harness"]
  readonly session: string
  readonly entries: readonly Entry[]
  /** There is more in the range than was read. */
  readonly isCut: boolean
}

/** `claude:8956b66f#120-140`; a single number is shown with what stands around it. */
export const expand = async (scene: RecallScene, range: string): Promise<Expanded> => {
  const asked = readRange(range)
  const conversation = (await conversationsOf(scene)).find(
    ({ harness, session }) => harness === asked.harness && session === asked.session,
  )
  if (conversation === undefined) throw new Failure("RECALL_PLACE_UNKNOWN", { place: range.slice(0, 200) })
  const secrets = secretsIn(scene.env)
  const until = scene.clock() + RECALL_LIMITS.timeMs
  const entries: Entry[] = []
  let room: number = RECALL_LIMITS.textLength
  let isCut = false
  for await (const entry of entriesIn(conversation)) {
    if (entry.number > asked.to || scene.clock() > until || scene.signal.aborted) break
    if (entry.number < asked.from) continue
    if (entries.length === RECALL_LIMITS.entries || room <= 0) {
      isCut = true
      break
    }
    const whole = hideSecrets(entry.text, secrets)
    const text = whole.slice(0, Math.min(RECALL_LIMITS.entryLength, room)).toWellFormed()
    isCut ||= text.length < whole.length
    room -= text.length
    entries.push({ ...entry, text })
  }
  return { place: range, harness: conversation.harness, session: conversation.session, entries, isCut }
}

/** By what its harness calls it, or its space. */
export const findConversation = async (
  scene: RecallScene,
  reference: string,
): Promise<Conversation | undefined> => (await conversationsOf(scene)).find(isOf(scene, reference))

const conversationsOf = async ({ env, root, stateRoot }: RecallScene): Promise<readonly Conversation[]> => {
  const chats = readChats(stateRoot)
  const sessions = new Set(chats.map(({ session }) => session))
  return [
    ...findTranscripts(env, root, chats),
    ...(await findOpencodeSessions(env, root, sessions)),
    ...(await findEngineSessions(root, stateRoot)),
  ].toSorted((left, right) => right.modifiedMs - left.modifiedMs)
}

/** By what its harness calls it, or by what its space does (`c3`). */
const isOf = ({ stateRoot }: RecallScene, reference: string) => {
  const chats = readChats(stateRoot).filter(({ chat }) => chat === reference)
  const sessions = new Set([reference, ...chats.map(({ session }) => session)])
  return ({ session }: Conversation): boolean => sessions.has(session)
}

interface Ranked {
  readonly conversation: Conversation
  readonly entry: Entry
  readonly rank: number
}

const search = async (
  conversation: Conversation,
  query: Query,
  isLate: () => boolean,
): Promise<readonly Ranked[]> => {
  const found: Ranked[] = []
  let count = 0
  for await (const entry of entriesIn(conversation)) {
    count += 1
    if (count % 256 === 0 && isLate()) break
    const score = scoreOf(entry.text, query)
    if (score === 0) continue
    // Among those that answer as well: what a person said first, then what is newer.
    const age = (entry.time ?? conversation.modifiedMs) / 1e15
    found.push({ conversation, entry, rank: score + ROLE_WEIGHT[entry.role] + age })
    if (found.length > KEPT_PER_CONVERSATION) dropWorst(found)
  }
  return found
}

const KEPT_PER_CONVERSATION = 100

const dropWorst = (found: Ranked[]): void => {
  found.sort((left, right) => right.rank - left.rank)
  found.length = KEPT_PER_CONVERSATION / 2
}

const ROLE_WEIGHT: Readonly<Record<Entry["role"], number>> = {
  user: 0.3,
  assistant: 0.2,
  tool: 0.1,
  summary: 0,
}

const entriesIn = async function* (conversation: Conversation): AsyncGenerator<Entry> {
  switch (conversation.harness) {
    case "claude":
    case "codex":
      yield* transcriptEntries(conversation.path)
      return
    case "opencode":
      yield* await readOpencodeSession(conversation)
      return
    case "direct":
      yield* await readEngineSession(conversation)
  }
}

const placeOf = ({ harness, session }: Conversation, number: number): string =>
  `${harness}:${session}#${number}`

const readRange = (
  range: string,
): { readonly harness: string; readonly session: string; readonly from: number; readonly to: number } => {
  const [, harness = "", session = "", first = "", last] =
    /^(claude|codex|opencode|direct):([\w.-]{1,200})#(\d{1,9})(?:-(\d{1,9}))?$/.exec(range.trim()) ?? []
  if (harness === "")
    throw new Failure("USAGE", {
      problem: `'${range.slice(0, 100)}' is no range.`,
      next: "give a place as recall shows it, for example claude:8956b66f#120-140.",
    })
  const from = Number(first)
  const to = last === undefined ? from + RECALL_LIMITS.around : Number(last)
  return { harness, session, from: last === undefined ? Math.max(1, from - RECALL_LIMITS.around) : from, to }
}
