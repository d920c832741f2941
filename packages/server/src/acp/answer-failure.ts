/** Failures as JSON-RPC errors: a code for the client, a sentence for the user. */
import { RequestError } from "@agentclientprotocol/sdk"
import { Failure, FAILURES, oneLine, renderFailure, type FailureEntry } from "@meridian/protocol"

const INVALID_PARAMS = -32_602
const INTERNAL = -32_603
const NOT_FOUND = -32_002

/** Runs a handler. Anything it throws becomes an error without a stack. */
export const answering = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    throw requestError(error)
  }
}

export const requestError = (error: unknown): RequestError => {
  if (error instanceof RequestError) return error
  if (!(error instanceof Failure))
    return new RequestError(
      INTERNAL,
      `Internal error: ${oneLine(error instanceof Error ? error.message : String(error), LONGEST_MESSAGE)}`,
    )
  const { http }: FailureEntry = FAILURES[error.code]
  const code = http === 404 ? NOT_FOUND : http === 400 ? INVALID_PARAMS : INTERNAL
  return new RequestError(code, renderFailure(error), { code: error.code })
}

const LONGEST_MESSAGE = 500
