import { HttpFailure } from "@meridian/server/client"
import { useEffect, useState } from "preact/hooks"

import type { Polled } from "./use-polled.ts"

/**
 * Fetches once per key, for requests that are expensive for the server. The last answer stays until the next one arrives.
 */
export const useAsked = <T>(
  key: string,
  ask: () => Promise<T>,
): Polled<T> & { readonly isAsking: boolean } => {
  const [asked, setAsked] = useState<Polled<T> & { readonly key?: string }>({})
  useEffect(() => {
    let isOver = false
    const look = async (): Promise<void> => {
      try {
        const value = await ask()
        if (!isOver) setAsked({ key, value })
      } catch (cause) {
        if (!(cause instanceof HttpFailure)) throw cause
        if (!isOver) setAsked({ key, failure: cause })
      }
    }
    void look()
    return () => {
      isOver = true
    }
  }, [key])
  return { ...asked, isAsking: asked.key !== key }
}
