/**
 * `--continue` of a conversation that no chat has held: one of the engine (imported, or made on the page or in an
 * editor), or one that was held in a harness without us, by its name in search and completion (`claude:ID`). A new
 * chat adopts it.
 */
import { resolve } from "node:path"

import { Failure } from "@meridian/protocol"

import { findProject } from "../store/find-project.ts"
import { holderOf } from "./continuation.ts"
import { shellLine } from "./shell-words.ts"
import type { State } from "./state.ts"
import type { FoundSession, World } from "./world.ts"

/** The reference as chats know it: without the harness in front, if a chat of that harness has the id. */
export const asChatsKnowIt = (reference: string, space: string | undefined, state: State): string => {
  const [, harness, id] = FOREIGN.exec(reference) ?? []
  return id !== undefined && holderOf(id, space, state) === harness ? id : reference
}

/** Undefined if a chat has held it, or if it is unknown. */
export const unheldSession = async (
  reference: string,
  space: string | undefined,
  { state, world }: { readonly state: State; readonly world: World },
): Promise<FoundSession | undefined> => {
  if (reference === "" || isChatId(reference) || holderOf(reference, space, state) !== undefined)
    return undefined
  const found = await world.findSession?.(reference)
  if (found?.directory !== undefined) requireHere(reference, found.directory, { state, world })
  return found
}

const isChatId = (reference: string): boolean => /^c\d+$/.test(reference)

const FOREIGN = /^(claude|codex|opencode|pi):(.+)$/

/** A harness only finds its conversations from the folder they were held in. */
const requireHere = (
  reference: string,
  directory: string,
  { state, world }: { readonly state: State; readonly world: World },
): void => {
  if (
    findProject({ ...world.env, MERIDIAN_REPO_ROOT: undefined }, resolve(directory)) === state.place.project
  )
    return
  throw new Failure("USAGE", {
    problem: `The session ${reference} works in ${directory}.`,
    next: `run ${shellLine(["cd", directory])} && ${shellLine(["meridian", "start", "--continue", reference])}.`,
  })
}
