/** Live output of a session that another node works on. Ends when that node is silent for too long. */
import type { LiveEvent } from "@meridian/protocol"

import { LIVE_ADDRESS } from "../contract/addresses.ts"
import { fillPath } from "./address.ts"
import { openFrames } from "./follow.ts"

export async function* followPeer(request: {
  readonly address: string
  readonly token: string
  readonly sessionID: string
  readonly signal: AbortSignal
}): AsyncGenerator<LiveEvent, void, void> {
  const { address, token, sessionID, signal } = request
  const { path } = fillPath(LIVE_ADDRESS.path, { sessionID })
  const connection = { url: address, token, fetch: globalThis.fetch }
  for await (const frames of openFrames(connection, path, { signal }))
    for (const { name, data } of frames)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a node of our own cluster has made it
      if (name === "live") yield JSON.parse(data) as LiveEvent
}
