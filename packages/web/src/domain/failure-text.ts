/** A failure of the server as two sentences for a person: what happened and what to do. */
export const failureText = (failure: {
  readonly code: string
  readonly message: string
  readonly next: string
}): string => {
  // The catalogue addresses programs here, but a person has no header to send.
  if (failure.code === "UNAUTHORIZED")
    return "This token is not valid. Open the address that 'meridian serve --http' printed, or paste its token."
  return `${failure.message} ${failure.next.charAt(0).toUpperCase()}${failure.next.slice(1)}`
}
