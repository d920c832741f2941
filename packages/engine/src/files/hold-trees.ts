/**
 * Refs keep trees alive: one folder of refs per session, holding a bounded number of the newest. They point at trees, not
 * commits, so `git log` never shows them.
 */
import { createHash } from "node:crypto"

import { callGit } from "./call-git.ts"
import { FILE_LIMITS } from "./limits.ts"
import { SILENT, type FilePlace } from "./open-place.ts"

type Refs = Pick<FilePlace, "refs">

export interface TreeHolder {
  readonly hold: (session: string, trees: readonly string[]) => Promise<void>
  readonly drop: (session: string) => Promise<void>
}

export const openTreeHolder = (place: Refs): TreeHolder => {
  /** As this process knows them. Another process may hold more for the same session. */
  const known = new Map<string, readonly HeldRef[]>()

  const add = async (session: string, trees: readonly string[]): Promise<void> => {
    const held = known.get(session) ?? (await heldBy(place, session))
    const first = (held.at(-1)?.number ?? 0) + 1
    const fresh = [...new Set(trees)].map((tree, index) => {
      const number = first + index
      return { number, name: refOf(session, number), tree }
    })
    const most = Math.max(0, held.length + fresh.length - FILE_LIMITS.trees)
    await update(place, [
      ...fresh.map(({ name, tree }) => `create ${name} ${tree}`),
      ...held.slice(0, most).map(({ name }) => `delete ${name}`),
    ])
    known.set(session, [...held.slice(most), ...fresh])
  }

  return {
    hold: async (session, trees) => {
      const isGuess = known.has(session)
      try {
        await add(session, trees)
      } catch (error) {
        known.delete(session)
        if (!isGuess) throw error
        await add(session, trees)
      }
    },
    drop: async (session) => {
      known.delete(session)
      const held = await heldBy(place, session)
      await update(
        place,
        held.map(({ name }) => `delete ${name}`),
      )
    },
  }
}

const update = async ({ refs }: Refs, lines: readonly string[]): Promise<void> => {
  if (lines.length > 0)
    await callGit(refs, [...SILENT, "update-ref", "--stdin"], { input: `${lines.join("\n")}\n` })
}

interface HeldRef {
  readonly name: string
  readonly number: number
}

/** Oldest first. */
const heldBy = async ({ refs }: Refs, session: string): Promise<readonly HeldRef[]> => {
  const { text } = await callGit(refs, [
    ...SILENT,
    "for-each-ref",
    "--format=%(refname)",
    `refs/meridian/files/${folderOf(session)}/`,
  ])
  return text
    .split("\n")
    .filter((name) => name !== "")
    .map((name) => ({ name, number: Number(name.slice(name.lastIndexOf("/") + 1)) }))
    .toSorted((left, right) => left.number - right.number)
}

const refOf = (session: string, number: number): string =>
  `refs/meridian/files/${folderOf(session)}/${String(number).padStart(9, "0")}`

/** A session id may contain characters that a ref name may not. */
const folderOf = (session: string): string =>
  /^[\w-]{1,100}$/.test(session) ? session : createHash("sha256").update(session).digest("hex").slice(0, 32)
