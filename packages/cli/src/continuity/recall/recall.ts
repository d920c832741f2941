/**
 * Searches what was said in a project, in every harness, and reads a stretch of it. Bounded in time, in hits and in
 * text; secrets are hidden. The newest conversations come first, so only the oldest are cut. `meridian search` finds
 * sessions on the whole machine with an index. This finds places, at once and without an index, for an agent in a
 * turn.
 */
import { excerptOf, readQuery, scoreOf, type Query } from "@meridian/continuity"
import { Failure } from "@meridian/protocol"

import { openHiding } from "../../export/hide-secrets.ts"
import { openEngines, type Engines } from "../../sessions/engine-store.ts"
import { readSessionName, sessionName, type SessionName } from "../../sessions/session-name.ts"
import { readChats } from "./chats.ts"
import {
  entriesIn,
  findConversations,
  findHostConversations,
  type Conversation,
  type Surroundings,
} from "./conversations.ts"
import type { Entry } from "./entry.ts"

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

export interface RecallScene extends Surroundings {
  /** `.meridian` of the project. */
  readonly stateRoot: string
  /** Monotonic milliseconds. */
  readonly clock: () => number
  readonly signal: AbortSignal
}

export interface Hit {
  /** `claude:8956b66f#120`, for `expand`. */
  readonly place: string
  readonly harness: Conversation["keeper"]
  readonly session: string
  readonly role: Entry["role"]
  readonly time: number | undefined
  readonly text: string
}

export interface Recalled {
  readonly hits: readonly Hit[]
  readonly conversations: number
  /** There was no time to search some conversations. */
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
    throw new Failure("USAGE", { problem: "The query has no words.", next: "name what you look for." })
  const until = scene.clock() + RECALL_LIMITS.timeMs
  const isLate = (): boolean => scene.clock() > until || scene.signal.aborted
  await using engines = await openEngines(scene)
  const all = await conversationsOf(scene, engines)
  const wanted = asked.session === undefined ? all : all.filter(isOf(scene, asked.session))
  const found: Ranked[] = []
  let looked = 0
  for (const conversation of wanted) {
    if (isLate()) break
    looked += 1
    found.push(...search(conversation, await entriesIn(conversation, engines), { query, isLate }))
  }
  const most = Math.min(asked.limit ?? RECALL_LIMITS.hits, RECALL_LIMITS.mostHits)
  const hiding = openHiding(scene.env)
  return {
    hits: found
      .toSorted((left, right) => right.rank - left.rank)
      .slice(0, most)
      .map(({ conversation, entry }) => ({
        place: `${sessionName(conversation)}#${entry.number}`,
        harness: conversation.keeper,
        session: conversation.id,
        role: entry.role,
        time: entry.time,
        text: excerptOf(hiding.text(entry.text), query, RECALL_LIMITS.excerpt),
      })),
    conversations: looked,
    isIncomplete: looked < wanted.length || isLate(),
  }
}

export interface Expanded {
  readonly place: string
  readonly harness: Conversation["keeper"]
  readonly session: string
  readonly entries: readonly Entry[]
  /** The range has more than was read. */
  readonly isCut: boolean
}

/** `claude:8956b66f#120-140`. A single number is shown with its surroundings. */
export const expand = async (scene: RecallScene, range: string): Promise<Expanded> => {
  const asked = readRange(range)
  await using engines = await openEngines(scene)
  const conversation = (await conversationsOf(scene, engines)).find(
    ({ keeper, id }) => keeper === asked.name.keeper && id === asked.name.id,
  )
  if (conversation === undefined) throw new Failure("RECALL_PLACE_UNKNOWN", { place: range.slice(0, 200) })
  const hiding = openHiding(scene.env)
  const until = scene.clock() + RECALL_LIMITS.timeMs
  const entries: Entry[] = []
  let room: number = RECALL_LIMITS.textLength
  let isCut = false
  for (const entry of await entriesIn(conversation, engines)) {
    if (entry.number > asked.to || scene.clock() > until || scene.signal.aborted) break
    if (entry.number < asked.from) continue
    if (entries.length === RECALL_LIMITS.entries || room <= 0) {
      isCut = true
      break
    }
    const whole = hiding.text(entry.text)
    const text = whole.slice(0, Math.min(RECALL_LIMITS.entryLength, room)).toWellFormed()
    isCut ||= text.length < whole.length
    room -= text.length
    entries.push({ ...entry, text })
  }
  return { place: range, harness: conversation.keeper, session: conversation.id, entries, isCut }
}

/** A host's conversation, by the host's id for it or by its chat. */
export const findHostConversation = (scene: RecallScene, reference: string): Conversation | undefined =>
  findHostConversations(scene, readChats(scene.stateRoot)).find(isOf(scene, reference))

const conversationsOf = (scene: RecallScene, engines: Engines): Promise<readonly Conversation[]> =>
  findConversations(scene, readChats(scene.stateRoot), engines)

/** `claude:ID`, the harness's id alone, or a chat of a space (`c3`). */
const isOf = ({ stateRoot }: RecallScene, reference: string) => {
  const chats = readChats(stateRoot).filter(({ chat }) => chat === reference)
  const ids = new Set([reference, readSessionName(reference).id, ...chats.map(({ session }) => session)])
  return ({ id }: Conversation): boolean => ids.has(id)
}

interface Ranked {
  readonly conversation: Conversation
  readonly entry: Entry
  readonly rank: number
}

const search = (
  conversation: Conversation,
  entries: Iterable<Entry>,
  { query, isLate }: { readonly query: Query; readonly isLate: () => boolean },
): readonly Ranked[] => {
  const found: Ranked[] = []
  let count = 0
  for (const entry of entries) {
    count += 1
    if (count % 256 === 0 && isLate()) break
    const score = scoreOf(entry.text, query)
    if (score === 0) continue
    // Among equally good matches: a person's words first, then newer ones.
    const age = (entry.time ?? conversation.changed) / 1e15
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

const readRange = (
  range: string,
): { readonly name: SessionName; readonly from: number; readonly to: number } => {
  const [, name = "", first = "", last] =
    /^([\w.:-]{1,240})#(\d{1,9})(?:-(\d{1,9}))?$/.exec(range.trim()) ?? []
  if (name === "")
    throw new Failure("USAGE", {
      problem: `'${range.slice(0, 100)}' is not a place.`,
      next: "give one as recall shows it, for example claude:8956b66f#120-140.",
    })
  const from = Number(first)
  return {
    name: readSessionName(name),
    from: last === undefined ? Math.max(1, from - RECALL_LIMITS.around) : from,
    to: last === undefined ? from + RECALL_LIMITS.around : Number(last),
  }
}
