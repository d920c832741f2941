/** What the server answered instead: a failure of its catalogue. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure"
  readonly code: string
  /** What can be done now. */
  readonly next: string
  readonly status: number

  constructor(failure: {
    readonly code: string
    readonly message: string
    readonly next: string
    readonly status: number
  }) {
    super(failure.message)
    this.code = failure.code
    this.next = failure.next
    this.status = failure.status
  }
}

/** Never throws: what is no failure of ours (a proxy's page) is told by its status. */
export const failureOf = async (response: Response): Promise<HttpFailure> => {
  const { status } = response
  try {
    const document: unknown = await response.json()
    const error = field(document, "error")
    const [code, message, next] = [field(error, "code"), field(error, "message"), field(error, "next")]
    if (typeof code === "string" && typeof message === "string" && typeof next === "string")
      return new HttpFailure({ code, message, next, status })
  } catch {
    // Not JSON: told below.
  }
  return new HttpFailure({
    code: "UNKNOWN",
    message: `The server answered ${status}.`,
    next: "check the address.",
    status,
  })
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
