import { ACP_KEY, type ConfigFile, type WrongValue } from "./config-layer.ts"
/**
 * Agents that speak the Agent Client Protocol. The user names them in their own configuration:
 *
 *   [harness.acp.gemini]
 *   command = ["gemini", "--experimental-acp"]
 *
 * A project's file cannot name one, because it would then decide which program runs. The table has no other keys.
 */
import { isTable } from "./table-rule.ts"

export interface AcpAgents {
  /** The command of each agent, by its name. */
  readonly commands: ReadonlyMap<string, readonly [string, ...(readonly string[])]>
  readonly wrong: readonly WrongValue[]
}

export const ACP_LIMITS = { words: 64, wordLength: 4_096 } as const

/** Reads only the user's own files. A later file replaces an agent of the same name. */
export const readAcpAgents = (files: readonly ConfigFile[]): AcpAgents => {
  const commands = new Map<string, readonly [string, ...(readonly string[])]>()
  const wrong: WrongValue[] = []
  for (const file of files.filter(({ source }) => source !== "file"))
    for (const [name, row] of Object.entries(tableAt(tableAt(file.tree, "harness"), "acp"))) {
      const key = `${ACP_KEY}.${name}`
      const refuse = (part: string, expected: string, got: unknown): void => {
        const line = file.lines.get(key) ?? file.lines.get(`${key}.command`)
        const where = line === undefined ? file.path : `${file.path}:${line}`
        wrong.push({ key: `${key}${part}`, where, expected, got: (JSON.stringify(got) ?? "").slice(0, 200) })
      }
      const command = readCommand(tableAt(row, undefined)["command"])
      const stranger = Object.keys(tableAt(row, undefined)).find((field) => field !== "command")
      if (!NAME.test(name)) refuse("", "a name of letters, digits, '.', '_' and '-'", name)
      else if (command === undefined)
        refuse(".command", "a list of words, the program first", tableAt(row, undefined)["command"])
      else if (stranger !== undefined) refuse(`.${stranger}`, "absent: an agent has only 'command'", stranger)
      else commands.set(name, command)
    }
  return { commands, wrong }
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/

const readCommand = (value: unknown): readonly [string, ...(readonly string[])] | undefined => {
  if (!Array.isArray(value) || value.length > ACP_LIMITS.words) return undefined
  const words = value.filter((word) => typeof word === "string" && word.length <= ACP_LIMITS.wordLength)
  const [program, ...args]: readonly string[] = words
  return words.length !== value.length || program === undefined || program.trim() === ""
    ? undefined
    : [program, ...args]
}

/** The named table of a tree, or the value itself without a name. Empty if that is not a table. */
const tableAt = (value: unknown, name: string | undefined): Readonly<Record<string, unknown>> => {
  const found: unknown = name === undefined || !isTable(value) ? value : value[name]
  return isTable(found) ? found : {}
}
