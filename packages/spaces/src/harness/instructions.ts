/** Where standing text goes if the harness has no better place: before the prompt, in the given order. */
import type { LaunchRequest } from "../port/harness.ts"
import { LIMITS } from "./limits.ts"

/** Agent body and instructions as one text, for harnesses without agents. */
export const standingText = (request: LaunchRequest): string =>
  [request.agent?.body, request.instructions]
    .filter((text) => text !== undefined && text.trim() !== "")
    .join("\n\n")

/** A continued session keeps its instructions unless they changed. */
export const isToldAlready = (request: LaunchRequest): boolean =>
  request.session.kind !== "new" && request.instructionsChanged !== true

export const promptWith = (text: string, prompt: string): string =>
  text === "" ? prompt : `${text}\n\n${prompt}`

export const fitsArgument = (text: string): boolean => Buffer.byteLength(text) <= LIMITS.argumentBytes
