/** A latch that remembers at most one mark. */
export const createDirtySignal = (signal: AbortSignal) => {
  let marked = false
  let wakeUp: (() => void) | undefined
  const mark = (): void => {
    marked = true
    wakeUp?.()
  }
  signal.addEventListener("abort", mark)
  return {
    mark,
    wait: async (): Promise<void> => {
      if (!marked)
        await new Promise<void>((resolve) => {
          wakeUp = resolve
        })
      marked = false
      wakeUp = undefined
    },
    close: () => signal.removeEventListener("abort", mark),
  }
}
