/** Tool calls that were announced and wait for their answer. Bounded: the oldest is forgotten first. */
import { LIMITS } from "./limits.ts"

export interface OpenCall {
  readonly tool: string
  /** The files it will have written if it succeeds. */
  readonly files: readonly string[]
}

export interface OpenCalls {
  readonly open: (call: string, about: OpenCall) => void
  readonly close: (call: string) => OpenCall
}

export const openCalls = (): OpenCalls => {
  const calls = new Map<string, OpenCall>()
  return {
    open: (call, about) => {
      calls.set(call, about)
      const oldest = calls.size > LIMITS.openCalls ? calls.keys().next().value : undefined
      if (oldest !== undefined) calls.delete(oldest)
    },
    close: (call) => {
      const about = calls.get(call) ?? { tool: "", files: [] }
      calls.delete(call)
      return about
    },
  }
}
