import { HttpFailure } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"

/** Something a person asked for: once at a time, and when it fails they are told why and what to do. */
export const useAct = () => {
  const [isActing, setIsActing] = useState(false)
  const [problem, setProblem] = useState<string>()
  const act = (work: () => Promise<unknown>): void => {
    if (isActing) return
    setIsActing(true)
    setProblem(undefined)
    work()
      .catch((cause: unknown) => setProblem(describeProblem(cause)))
      .finally(() => setIsActing(false))
  }
  return { act, isActing, problem }
}

export const describeProblem = (cause: unknown): string =>
  cause instanceof HttpFailure ? failureText(cause) : String(cause)
