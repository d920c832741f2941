/** Receipts of a conversation in a host, as `session compactions` and the page show them. */
import { openPlace, type World } from "@meridian/spaces"

import { readHostReceipts, type HostReceipts } from "./host-receipts.ts"

type Scene = Pick<World, "env" | "cwd" | "signal">

/** Undefined if no harness knows such a conversation in this project. */
export const hostCompactions = (world: Scene, reference: string) => {
  const found = receiptsIn(world, reference)
  return found?.receipts.map((receipt, index) => documentOf(found, receipt, index))
}

/** For the page, which has found the conversation as a chat of a space. */
export const pageCompactions = (world: Scene, harness: string, session: string) =>
  (receiptsIn(world, `${harness}:${session}`)?.receipts ?? []).map(pageDocument)

const pageDocument = (receipt: HostReceipts["receipts"][number]) => ({
  number: receipt.number,
  ...(receipt.time === undefined ? {} : { at: new Date(receipt.time).toISOString() }),
  summary: receipt.summary,
  kept: receipt.kept.map(told),
  putBack: receipt.putBack.map(told),
  lost: receipt.lost.map(told),
  invented: receipt.invented,
  contradicted: receipt.isContradicted,
  ...(receipt.injection === undefined ? {} : { injectedTokens: receipt.injection.tokens }),
})

const receiptsIn = (world: Scene, reference: string): HostReceipts | undefined => {
  const { project, root } = openPlace(world.env, world.cwd)
  return readHostReceipts(
    {
      env: world.env,
      cwd: world.cwd,
      root: project,
      stateRoot: root,
      clock: () => performance.now(),
      signal: world.signal,
    },
    reference,
  )
}

const documentOf = (
  { harness, session, receipts }: HostReceipts,
  receipt: HostReceipts["receipts"][number],
  index: number,
) => ({
  compaction_id: `${harness}:${session}@${receipt.number}`,
  status: "ended",
  reason: "host",
  in_force: index === receipts.length - 1,
  seq: receipt.number,
  harness,
  ...(receipt.time === undefined ? {} : { at: new Date(receipt.time).toISOString() }),
  summary: receipt.summary,
  kept: receipt.kept.map(told),
  put_back: receipt.putBack.map(told),
  lost: receipt.lost.map(told),
  invented: receipt.invented,
  contradicted: receipt.isContradicted,
  ...(receipt.injection === undefined ? {} : { injected_tokens: receipt.injection.tokens }),
})

const told = ({ kind, text }: { readonly kind: string; readonly text: string }): string => `${kind}: ${text}`
