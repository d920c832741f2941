/** Every bound of the HTTP server. Only tests change them, to use shorter times. */
export interface HttpLimits {
  /** A request must send its whole head within `headersMs` and all of it within `requestMs`. */
  readonly headersMs: number
  readonly requestMs: number
  /** How often both are checked. */
  readonly checkMs: number
  readonly keepAliveMs: number
  readonly connections: number
  readonly streams: number
  readonly addressCharacters: number
  readonly headerBytes: number
  readonly bodyBytes: number
  /** For a prompt: what the engine accepts, plus room for the JSON around it. */
  readonly largeBodyBytes: number
  readonly heartbeatMs: number
  /** The approximate size of a page of messages or inputs. One item always fits. */
  readonly pageBytes: number
  /** How much may wait in this process for one connection before more is made for it. The largest event fits. */
  readonly clientBytes: number
  /** The same for all connections together. When it is used up, readers that have waited for `stallMs` are dropped. */
  readonly outgoingBytes: number
  readonly stallMs: number
  /** The most bytes of all arriving bodies together. */
  readonly incomingBytes: number
  /** A reader that takes nothing for this long is told so and dropped. */
  readonly slowReaderMs: number
  /** How long it then has to fetch what was already sent. */
  readonly farewellMs: number
  /** When the server stops, running requests get this long to finish. */
  readonly stopMs: number
}

const MEBIBYTE = 1024 * 1024

export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  keepAliveMs: 10_000,
  connections: 2_048,
  streams: 1_024,
  addressCharacters: 8_192,
  headerBytes: 16 * 1024,
  bodyBytes: MEBIBYTE,
  largeBodyBytes: 24 * MEBIBYTE,
  heartbeatMs: 15_000,
  pageBytes: 4 * MEBIBYTE,
  clientBytes: 32 * MEBIBYTE,
  outgoingBytes: 64 * MEBIBYTE,
  stallMs: 1_000,
  incomingBytes: 128 * MEBIBYTE,
  slowReaderMs: 30_000,
  farewellMs: 30_000,
  stopMs: 5_000,
}
