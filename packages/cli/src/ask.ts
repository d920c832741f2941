/** One question on the terminal. Anything but y or yes is no. */
import { createInterface } from "node:readline/promises"

import { plainText } from "@meridian/protocol"

export const ask = async (question: string, signal: AbortSignal): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${plainText(question)} [y/N] `, { signal })
    return /^y(es)?$/i.test(answer.trim())
  } catch (error) {
    if (signal.aborted) return false
    throw error
  } finally {
    terminal.close()
  }
}
