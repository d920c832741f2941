import { HttpFailure } from "@meridian/server/client"
import { useEffect, useState } from "preact/hooks"

import type { Polled } from "./use-polled.ts"

/** Asked once for each key: for what costs the server something. The last answer stays until the next one is there. */
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
