/** Frames other than events. They have no id, so they do not move the reader's cursor. */
import type { LiveItem } from "@meridian/engine"
import type { Json } from "@meridian/protocol"

export const RETRY = "retry: 1000\n\n"
export const HEARTBEAT = ": heartbeat\n\n"

/** JSON has no raw line breaks, so one data line is enough. */
export const namedFrame = (name: string, document: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(document)}\n\n`

export const liveFrame = (item: LiveItem): string =>
  namedFrame(item.type === "dropped" ? "dropped" : "live", item)

export const syncedFrame = (after: number, time: number): string =>
  namedFrame("synced", { type: "synced", data: { after }, time })

export const closedFrame = (data: Readonly<Record<string, Json>>): string =>
  namedFrame("closed", { type: "closed", data })
