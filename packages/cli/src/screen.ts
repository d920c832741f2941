/** What `meridian` alone shows a person: where they are, what is there, what to do next. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

import type { Registration } from "@meridian/spaces"

import { VERSION } from "./version.ts"

export const renderScreen = async (commands: readonly Registration[]): Promise<string> => {
  const found = ["claude", "codex", "opencode"].filter((binary) => onPath(binary))
  const has = (name: string): boolean => commands.some((command) => command.meta.name === name)
  const steps = STEPS.filter(([name]) => has(name))
  const width = Math.max(0, ...steps.map(([, line]) => line.length))
  return [
    `meridian ${VERSION}: keeps coding agents on their task`,
    found.length === 0
      ? "Harnesses: none found on PATH (install claude, codex or opencode)"
      : `Harnesses: ${found.join(", ")}`,
    ["Next", ...steps.map(([, line, text]) => `  meridian ${line.padEnd(width)}  ${text}`)].join("\n"),
    "Run 'meridian --help' for every command.",
  ].join("\n\n")
}

const STEPS: readonly (readonly [name: string, line: string, text: string])[] = [
  ["start", "start", "start a conversation, or take up the last one"],
  ["run.spawn", 'run spawn -p "..."', "let an agent do one task and print its report"],
  ["space.list", "space list", "see what is going on"],
  ["init", "init", "write a configuration file to change"],
  ["doctor", "doctor", "check and repair the state of this project"],
]

const onPath = (binary: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, binary), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
