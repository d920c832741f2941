import { HttpFailure } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"

/** An action of the user: one at a time. When it fails, the user learns why and what to do. */
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
