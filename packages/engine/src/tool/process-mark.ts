/** The marks that every process of a tool carries in its environment: whose it is, and which call started it. */
export interface CallIdentity {
  readonly sessionID: string
  readonly messageID: string
  readonly callID: string
}

/** `MERIDIAN_TOOL_CALL=<sessionID>:<messageID>:<callID>`; ids are escaped so that the colons stay unambiguous. */
export const callMark = (call: CallIdentity): string =>
  `MERIDIAN_TOOL_CALL=${[call.sessionID, call.messageID, call.callID].map(encodeURIComponent).join(":")}`

/** Which store the call is recorded in: two stores may know the same ids. */
export const scopeMark = (scope: string): string => `MERIDIAN_TOOL_SCOPE=${encodeURIComponent(scope)}`

/** Which engine started it; a new one every time. */
export const ownerMark = (owner: string): string => `MERIDIAN_TOOL_OWNER=${owner}`

export const asEnvironment = (marks: readonly string[]): { readonly [name: string]: string } =>
  Object.fromEntries(
    marks.map((mark) => {
      const at = mark.indexOf("=")
      return [mark.slice(0, at), mark.slice(at + 1)]
    }),
  )
