import { useRef, useState } from "preact/hooks"

import { describeProblem } from "./use-act.ts"

/** A series of requests of which only the newest counts. An answer that was overtaken is dropped. */
export const useNewest = () => {
  const newest = useRef(0)
  const [problem, setProblem] = useState<string>()
  const overtake = (): number => {
    newest.current += 1
    setProblem(undefined)
    return newest.current
  }
  const ask = async <Answer>(
    question: () => Promise<Answer>,
    use: (answer: Answer) => void,
  ): Promise<void> => {
    const mine = overtake()
    try {
      const answer = await question()
      if (mine === newest.current) use(answer)
    } catch (cause) {
      if (mine === newest.current) setProblem(describeProblem(cause))
    }
  }
  return { ask, overtake, problem }
}
