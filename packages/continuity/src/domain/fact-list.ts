import type { Fact, FactKind } from "./fact.ts"

export interface FactList {
  readonly add: (kind: FactKind, source: string, said: string | readonly string[], key?: string) => void
  readonly facts: readonly Fact[]
}

/** Collects facts in the order they are added. */
export const startFactList = (): FactList => {
  const facts: Fact[] = []
  return {
    facts,
    add: (kind, source, said, key) => {
      for (const text of typeof said === "string" ? [said] : said)
        facts.push({ kind, text, source, order: facts.length, ...(key === undefined ? {} : { key }) })
    },
  }
}
