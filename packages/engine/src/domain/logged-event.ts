import type { StoredEvent, UnknownEvent } from "@meridian/protocol"

/** What a log returns: an event, or a row that this version cannot read. */
export type LoggedEvent = StoredEvent | UnknownEvent
