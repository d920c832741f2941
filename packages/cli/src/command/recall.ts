/** `meridian recall` and `meridian expand`. */
import { oneLine, plainText } from "@meridian/protocol"
import { implement, openPlace, type World } from "@meridian/spaces"

import type { Entry } from "../continuity/recall/entry.ts"
import type { Hit } from "../continuity/recall/recall.ts"
import { EXPAND, RECALL } from "./recall.meta.ts"

export const recall = implement(RECALL, {
  run: async ({ query, session, limit }, world) => {
    const { recall: search } = await import("../continuity/recall/recall.ts")
    const { hits, conversations, isIncomplete } = await search(sceneOf(world), { query, session, limit })
    return {
      hits: hits.map(hitDocument),
      conversations,
      ...(isIncomplete ? { incomplete: true } : {}),
    }
  },
  text: ({ hits, conversations, incomplete }) =>
    [
      ...hits.map((hit) =>
        [
          `${hit.place}  ${hit.role}${hit.at === undefined ? "" : `  ${hit.at}`}`,
          `  ${oneLine(hit.text)}`,
        ].join("\n"),
      ),
      `${hits.length === 0 ? "Nothing found" : `${hits.length} found`} in ${conversations} conversation${conversations === 1 ? "" : "s"}${incomplete === true ? "; there was no time for all of them" : ""}.`,
    ].join("\n\n"),
})

export const expand = implement(EXPAND, {
  run: async ({ range }, world) => {
    const { expand: read } = await import("../continuity/recall/recall.ts")
    const { place, harness, session, entries, isCut } = await read(sceneOf(world), range)
    return {
      place,
      harness,
      session,
      entries: entries.map(entryDocument),
      ...(isCut ? { cut: true } : {}),
    }
  },
  text: ({ entries, cut }) =>
    [
      ...entries.map((entry) =>
        plainText(
          `#${entry.number} ${entry.role}${entry.at === undefined ? "" : `  ${entry.at}`}\n${entry.text}`,
        ),
      ),
      ...(entries.length === 0 ? ["There is nothing at this place."] : []),
      ...(cut === true ? ["There is more: ask for a smaller range."] : []),
    ].join("\n\n"),
})

const sceneOf = ({ env, cwd, signal }: World) => {
  const { project, root } = openPlace(env, cwd)
  return { env, cwd, root: project, stateRoot: root, clock: () => performance.now(), signal }
}

const hitDocument = ({ place, harness, session, role, time, text }: Hit) => ({
  place,
  harness,
  session,
  role,
  text,
  ...whenOf(time),
})

const entryDocument = ({ number, role, time, text }: Entry) => ({ number, role, text, ...whenOf(time) })

const whenOf = (time: number | undefined): { readonly at?: string } =>
  time === undefined ? {} : { at: new Date(time).toISOString() }
