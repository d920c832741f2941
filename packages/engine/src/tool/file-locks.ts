/** One writer per file at a time, from any tool or session. Open one per engine and share it. */
export interface FileLocks {
  /**
   * Runs `work` while it alone holds all these canonical paths. Paths are always taken in the same order, so there is no
   * deadlock.
   */
  readonly hold: <Value>(absolutes: readonly string[], work: () => Promise<Value>) => Promise<Value>
}

export const openFileLocks = (): FileLocks => {
  const last = new Map<string, Promise<void>>()

  const take = async (path: string): Promise<() => void> => {
    const before = last.get(path)
    const { promise, resolve } = Promise.withResolvers<void>()
    last.set(path, promise)
    await before
    return () => {
      if (last.get(path) === promise) last.delete(path)
      resolve()
    }
  }

  return {
    hold: async (absolutes, work) => {
      const releases: (() => void)[] = []
      try {
        for (const path of [...new Set(absolutes)].sort()) releases.push(await take(path))
        return await work()
      } finally {
        for (const release of releases) release()
      }
    },
  }
}
