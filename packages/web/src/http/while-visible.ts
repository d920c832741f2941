/**
 * A browser opens at most six connections to a server for all its tabs together. A tab nobody looks at gives those back
 * that would stay open, or the seventh could load nothing.
 */
const GRACE_MS = 3_000

/** Resolves when the tab is looked at. */
export const visible = (): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden) return
      document.removeEventListener("visibilitychange", look)
      resolve()
    }
    document.addEventListener("visibilitychange", look)
    look()
  })

/** Aborts when nobody has looked at the tab for a while. `stop` ends the watching. */
export const watchHidden = (): { readonly signal: AbortSignal; readonly stop: () => void } => {
  const hidden = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = (): void => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(() => hidden.abort(), GRACE_MS)
  }
  document.addEventListener("visibilitychange", look)
  look()
  return {
    signal: hidden.signal,
    stop: () => {
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", look)
    },
  }
}
