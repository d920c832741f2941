/** A numbered choice on the terminal. Enter takes the first. Anything but a number of the list takes none. */
import { createInterface } from "node:readline/promises"

import { oneLine } from "@meridian/protocol"

const MOST_CHARACTERS = 200

/** The index of the chosen one, from 0. Undefined if none was chosen. */
export const choose = async (
  question: string,
  choices: readonly string[],
  signal: AbortSignal,
): Promise<number | undefined> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const rows = choices.map(
    (choice, index) => `${String(index + 1).padStart(2)} ${oneLine(choice, MOST_CHARACTERS)}\n`,
  )
  try {
    const answer = await terminal.question(`${rows.join("")}${oneLine(question)} [1] `, { signal })
    return readChoice(answer, choices.length)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    terminal.close()
  }
}

export const readChoice = (answer: string, count: number): number | undefined => {
  const text = answer.trim()
  if (text === "") return 0
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= count ? number - 1 : undefined
}
