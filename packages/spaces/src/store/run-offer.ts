/** The worker's side of an offer (`protocol/run-offer.ts`): make it, notice that it was taken, withdraw it. */
import { existsSync, renameSync, rmSync, statSync } from "node:fs"

import { decodeRunOffer, encodeRunOffer, systemCode, type RunOffer } from "@meridian/protocol"

import { decodeLine } from "../domain/json-line.ts"
import { readDocument, replaceFile } from "./document.ts"
import type { RunPlace } from "./place.ts"

type Files = Pick<RunPlace, "offer" | "taken">

export const makeOffer = ({ offer }: Files, made: RunOffer): void =>
  replaceFile(offer, `${JSON.stringify(encodeRunOffer(made))}\n`)

export const isOffered = ({ offer }: Files): boolean => existsSync(offer)

/** False if another process was faster and has taken it. */
export const withdrawOffer = ({ offer }: Files): boolean => {
  const own = `${offer}.withdrawn`
  try {
    renameSync(offer, own)
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false
    throw error
  }
  rmSync(own, { force: true })
  return true
}

export const takenOffer = ({ taken }: Files): RunOffer | undefined => {
  const found = decodeRunOffer(decodeLine((readDocument(taken) ?? "").trim()))
  return found.tag === "value" ? found.value : undefined
}

/** When a taken offer was made: taking it only renames the file. */
export const offeredAt = ({ taken }: Files): string => statSync(taken).mtime.toISOString()

/** The log has recorded that it was taken. */
export const forgetTaken = ({ taken }: Files): void => rmSync(taken, { force: true })
