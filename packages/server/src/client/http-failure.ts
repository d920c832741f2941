import { isJsonObject } from "@meridian/protocol"

/** Why a call has no answer: a failure from the server's catalogue, or no server at all (`OFFLINE`, status 0). */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure"
  readonly code: string
  /** What the user can do now. */
  readonly next: string
  readonly status: number

  constructor(
    failure: {
      readonly code: string
      readonly message: string
      readonly next: string
      readonly status: number
    },
    options?: ErrorOptions,
  ) {
    super(failure.message, options)
    this.code = failure.code
    this.next = failure.next
    this.status = failure.status
  }
}

/** The server understood and refused. Asking again would get the same answer. */
export const isFinal = ({ status }: HttpFailure): boolean => status >= 400 && status < 500

export const offline = (cause: unknown): HttpFailure =>
  new HttpFailure(
    {
      code: "OFFLINE",
      message: `The server does not answer (${cause instanceof Error ? cause.message : String(cause)}).`,
      next: "check that 'meridian serve --http' is still running.",
      status: 0,
    },
    { cause },
  )

/** Never throws. An answer that is not one of our failures (such as a proxy's page) is described by its status. */
export const failureOf = async (response: Response): Promise<HttpFailure> => {
  const { status } = response
  const document: unknown = await response.json().catch(() => undefined)
  const error = isJsonObject(document) ? document["error"] : undefined
  const { code, message, next } = isJsonObject(error) ? error : {}
  if (typeof code === "string" && typeof message === "string" && typeof next === "string")
    return new HttpFailure({ code, message, next, status })
  return new HttpFailure({
    code: `HTTP_${status}`,
    message: `The server answered ${status}.`,
    next: "check the address.",
    status,
  })
}
