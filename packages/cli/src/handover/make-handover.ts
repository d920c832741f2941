/** Reads what other harnesses keep about a task, and makes one text of it for the harness that takes over. */
import { openLedger, readPin } from "@meridian/continuity"
import type { World } from "@meridian/spaces"

import { stateRootOf } from "../continuity/host-pin.ts"
import { projectRoot } from "../continuity/project-root.ts"
import { KEEPERS, type Keeper } from "../sessions/harness-places.ts"
import { openConversation } from "../sessions/open-conversation.ts"
import { foldCalls } from "./done-calls.ts"
import { gitStatus } from "./git-status.ts"
import { renderHandover } from "./render-handover.ts"

type Query = Parameters<NonNullable<World["handover"]>>[0]

/** Never rejects: it names what cannot be read and reports the rest. */
export const makeHandover = async (query: Query): Promise<string> => {
  const { cwd, env } = query
  const place = { root: projectRoot(cwd), directory: cwd }
  const ledger = openLedger()
  const calls = foldCalls()
  const held: string[] = []
  const unread: string[] = []
  let lastWords = ""
  for (const session of query.sessions) {
    const keeper = keeperOf(session.harness)
    const name = `${session.harness} (${session.id})`
    try {
      if (keeper === undefined) throw new Error("Meridian does not read its conversations")
      await using conversation = await openConversation({ keeper, id: session.id }, { env, cwd })
      for await (const piece of conversation.pieces()) {
        ledger.take(piece)
        calls.take(piece)
        if (piece.kind === "text" && piece.text.trim() !== "") lastWords = piece.text
      }
      held.push(name)
    } catch (error) {
      unread.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const pin = await readPin({
    place,
    stateRoot: stateRootOf(place),
    ledger: ledger.state(),
    environment: env,
    harnessSessionId: query.sessions.at(-1)?.id ?? "",
    head: "handover",
    canRecall: true,
  })
  return renderHandover({
    held,
    unread,
    state: pin.pinned,
    calls: calls.calls(),
    lastWords,
    git: await gitStatus(cwd, env),
  })
}

const keeperOf = (harness: string): Keeper | undefined =>
  harness === "direct" ? "engine" : KEEPERS.find((keeper) => keeper === harness)
