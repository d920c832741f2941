import { HttpFailure } from "@meridian/server/client"
import { useEffect, useState } from "preact/hooks"

const POLL_MS = 2_000

export interface Polled<T> {
  readonly value?: T
  readonly failure?: HttpFailure
}

/** Polls while the page is visible, one request at a time. Without an answer the last one stays; a refusal replaces it. */
export const usePolled = <T>(key: string, ask: () => Promise<T>): Polled<T> => {
  const [polled, setPolled] = useState<Polled<T>>({})
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      try {
        const value = document.hidden ? undefined : await ask()
        if (!isOver && value !== undefined) setPolled({ value })
      } catch (cause) {
        if (!(cause instanceof HttpFailure)) throw cause
        if (!isOver)
          setPolled((before) => (cause.status === 0 ? { ...before, failure: cause } : { failure: cause }))
      }
      if (!isOver) timer = setTimeout(() => void look(), POLL_MS)
    }
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [key])
  return polled
}
