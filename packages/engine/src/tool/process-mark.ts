/** The marks in the environment of every process of a tool: its engine, and the call that started it. */
export interface CallIdentity {
  readonly sessionID: string
  readonly messageID: string
  readonly callID: string
}

/** `MERIDIAN_TOOL_CALL=<sessionID>:<messageID>:<callID>`. Ids are escaped so that the colons stay unambiguous. */
export const callMark = (call: CallIdentity): string =>
  `MERIDIAN_TOOL_CALL=${[call.sessionID, call.messageID, call.callID].map(encodeURIComponent).join(":")}`

/** The store that records the call. Two stores may contain the same ids. */
export const scopeMark = (scope: string): string => `MERIDIAN_TOOL_SCOPE=${encodeURIComponent(scope)}`

/** The engine that started it. Different each time an engine opens. */
export const ownerMark = (owner: string): string => `MERIDIAN_TOOL_OWNER=${owner}`

export const asEnvironment = (marks: readonly string[]): { readonly [name: string]: string } =>
  Object.fromEntries(
    marks.map((mark) => {
      const at = mark.indexOf("=")
      return [mark.slice(0, at), mark.slice(at + 1)]
    }),
  )
