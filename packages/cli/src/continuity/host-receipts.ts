/**
 * What each compaction of a conversation in a host kept and lost, and what was put back: from its transcript, if it
 * has a file, and from the records of our hook or plugin.
 */
import {
  readCompactions,
  readInjections,
  receiptOf,
  type HostCompaction,
  type HostReceipt,
  type Injection,
} from "@meridian/continuity"

import { injectionFolder } from "./read-injected.ts"
import { findHostConversation, type RecallScene } from "./recall/recall.ts"

export interface HostReceipts {
  readonly harness: string
  readonly session: string
  readonly receipts: readonly (HostReceipt & { readonly injection?: Injection })[]
}

/** Undefined if no harness knows such a conversation in this project. */
export const readHostReceipts = (scene: RecallScene, reference: string): HostReceipts | undefined => {
  const conversation = findHostConversation(scene, reference)
  if (conversation === undefined || conversation.keeper === "engine") return undefined
  const { keeper: harness, id: session, path } = conversation
  const injections = readInjections(
    injectionFolder(scene.env),
    (injection) => injection.host === harness && injection.session === session,
  )
  const compactions =
    harness === "opencode"
      ? fromInjections(injections)
      : readCompactions(path, { root: scene.root, directory: scene.root })
  const receipts = compactions.map((compaction, index) =>
    withInjection(compaction, injectionsOf(compaction, index, injections)),
  )
  return { harness, session, receipts }
}

const withInjection = (
  compaction: HostCompaction,
  own: readonly Injection[],
): HostReceipts["receipts"][number] => {
  const main = own.find(({ request }) => request === "main request")
  const facts = [...compaction.facts, ...(main?.facts ?? [])].filter(isFirst)
  const receipt = receiptOf(
    { ...compaction, facts },
    own.flatMap(({ texts }) => texts),
  )
  return main === undefined ? receipt : { ...receipt, injection: main }
}

type Known = HostCompaction["facts"][number]

const isFirst = ({ kind, text }: Known, index: number, all: readonly Known[]): boolean =>
  all.findIndex((other) => other.kind === kind && other.text === text) === index

/** OpenCode's transcript is not a file. The plugin records the summary beside what it put back. */
const fromInjections = (injections: readonly Injection[]): readonly HostCompaction[] => {
  const compactions: HostCompaction[] = []
  for (const { request, summary, invented = [], facts = [], at } of injections) {
    if (request !== "main request" || summary === undefined || summary === compactions.at(-1)?.summary)
      continue
    compactions.push({ number: compactions.length + 1, time: Date.parse(at), summary, invented, facts })
  }
  return compactions
}

/** The next request comes within minutes: we take the injections near it, or else the one with the same index. */
const injectionsOf = (
  { time, summary }: HostCompaction,
  index: number,
  injections: readonly Injection[],
): readonly Injection[] => {
  const told = injections.filter(({ request }) => request !== "compaction")
  const same = told.filter((injection) => injection.summary === summary && summary !== "")
  const near = told.filter(({ at }) => time !== undefined && Math.abs(Date.parse(at) - time) < NEAR_MS)
  if (near.length > 0) return near
  if (same.length > 0) return same
  return told.filter(({ request }) => request === "main request").slice(index, index + 1)
}

const NEAR_MS = 30_000
