/**
 * A browser opens at most six connections to one server, for all its tabs together. So a hidden tab releases its open
 * streams; otherwise the seventh tab could load nothing.
 */
const GRACE_MS = 3_000

/** Does the work while the tab is visible, and again after each absence, until the work ends on its own or is stopped. */
export const whileVisible = async (
  work: (signal: AbortSignal) => Promise<void>,
  stop: AbortSignal,
): Promise<void> => {
  while (!stop.aborted) {
    await visible(stop)
    const hidden = watchHidden()
    try {
      await work(AbortSignal.any([stop, hidden.signal]))
      if (!hidden.signal.aborted) return
    } finally {
      hidden.stop()
    }
  }
}

/** Resolves when the tab becomes visible, or when it is too late for that. */
const visible = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !stop.aborted) return
      document.removeEventListener("visibilitychange", look)
      stop.removeEventListener("abort", look)
      resolve()
    }
    document.addEventListener("visibilitychange", look)
    stop.addEventListener("abort", look)
    look()
  })

/** Aborts when the tab has been hidden for a while. `stop` ends the watching. */
const watchHidden = (): { readonly signal: AbortSignal; readonly stop: () => void } => {
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
