/**
 * What was put into requests of this directory, in every host: the newest injections, with what they contradicted
 * and, if the summary is known, what it had kept and what was put back.
 */
import { join } from "node:path"

import {
  contradiction,
  readInjections,
  receiptOf,
  type HostReceipt,
  type Injection,
} from "@meridian/continuity"
import { plainText } from "@meridian/protocol"

import { stateFolder } from "../sessions/harness-places.ts"
import { projectRoot } from "./project-root.ts"

export interface InjectedOutput {
  /** The folder with the records. */
  readonly folder: string
  readonly entries: readonly ShownInjection[]
  readonly output: string
}

export interface ShownInjection extends Injection {
  /** The receipt of its compaction, once the summary is known. */
  readonly receipt?: Pick<HostReceipt, "kept" | "putBack" | "lost">
}

const SHOWN = 20

export const readInjected = (input: {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}): InjectedOutput => {
  const folder = injectionFolder(input.env)
  const root = projectRoot(input.cwd)
  const all = readInjections(folder, ({ directory }) => projectRoot(directory) === root)
  const entries = all.map((injection, index) => withReceipt(injection, all.slice(index + 1))).slice(-SHOWN)
  return { folder, entries, output: entries.length === 0 ? nothing(folder) : entries.map(tell).join("\n\n") }
}

export const injectionFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  join(stateFolder(env), "injections")

/** Claude Code reports its summary only after the request; it is then in a later entry. */
const withReceipt = (injection: Injection, later: readonly Injection[]): ShownInjection => {
  const { request, session, facts = [], texts } = injection
  if (request !== "main request" || facts.length === 0) return injection
  const next = later.find((other) => other.session === session && other.request !== "compaction")
  const summary = injection.summary ?? (next?.request === "summary" ? next.summary : undefined)
  if (summary === undefined) return injection
  const { kept, putBack, lost } = receiptOf(
    { number: 1, time: undefined, summary, invented: injection.invented ?? [], facts },
    texts,
  )
  return { ...injection, receipt: { kept, putBack, lost } }
}

const nothing = (folder: string): string =>
  `Nothing was put into a request of this directory yet (looked in ${folder}). It happens after a compaction, in a harness that 'meridian init' has connected.`

const tell = ({
  at,
  host,
  session,
  request,
  tokens,
  ms,
  texts,
  invented = [],
  receipt,
}: ShownInjection): string =>
  plainText(
    [
      `=== ${at} ${host} ${session} ${request}`,
      `${tokens} tokens${ms === undefined ? "" : `, made in ${ms} ms`}`,
      ...(receipt === undefined ? [] : [tellReceipt(receipt)]),
      ...texts,
      ...invented
        .map(contradiction)
        .filter((line) => !texts.some((text) => text.includes(line)))
        .map((line) => `(not told yet) ${line}`),
    ].join("\n\n"),
  )

const tellReceipt = ({ kept, putBack, lost }: NonNullable<ShownInjection["receipt"]>): string => {
  const all = kept.length + putBack.length + lost.length
  const named = lost.map(({ kind, text }) => `\n  lost: ${kind}: ${text}`).join("")
  return `The summary kept ${kept.length} of ${all} facts; ${putBack.length} were put back, ${lost.length} lost.${named}`
}
