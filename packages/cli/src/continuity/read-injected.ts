/** What was put into requests of this directory, in every host: the newest ones, with what they contradicted. */
import { join } from "node:path"

import { contradiction, readInjections, type Injection } from "@meridian/continuity"
import { plainText } from "@meridian/protocol"

import { stateFolder } from "../sessions/harness-places.ts"
import { projectRoot } from "./project-root.ts"

export interface InjectedOutput {
  /** Where it is written down. */
  readonly folder: string
  readonly entries: readonly Injection[]
  readonly output: string
}

const SHOWN = 20

export const readInjected = (input: {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}): InjectedOutput => {
  const folder = injectionFolder(input.env)
  const root = projectRoot(input.cwd)
  const entries = readInjections(folder, ({ directory }) => projectRoot(directory) === root).slice(-SHOWN)
  return { folder, entries, output: entries.length === 0 ? nothing(folder) : entries.map(tell).join("\n\n") }
}

export const injectionFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  join(stateFolder(env), "injections")

const nothing = (folder: string): string =>
  `Nothing was put into a request of this directory yet (looked in ${folder}). It happens after a compaction, in a harness that 'meridian init' has connected.`

const tell = ({ at, host, session, request, tokens, ms, texts, invented = [] }: Injection): string =>
  plainText(
    [
      `=== ${at} ${host} ${session} ${request}`,
      `${tokens} tokens${ms === undefined ? "" : `, made in ${ms} ms`}`,
      ...texts,
      ...invented
        .map(contradiction)
        .filter((line) => !texts.some((text) => text.includes(line)))
        .map((line) => `(not told yet) ${line}`),
    ].join("\n\n"),
  )
