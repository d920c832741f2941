/** What an import could not take along, counted by kind and reported in sentences. */
export interface Loss {
  readonly kind: LossKind
  readonly count: number
  readonly text: string
}

export interface Losses {
  readonly add: (kind: LossKind, count?: number) => void
  readonly list: () => readonly Loss[]
}

const s = (count: number): string => (count === 1 ? "" : "s")
const are = (count: number): string => (count === 1 ? "is" : "are")

/** In the order they are reported. */
const SENTENCES = {
  damaged: (n: number) => `${n} damaged line${s(n)} skipped`,
  long: (n: number) => `${n} line${s(n)} skipped: longer than can be read`,
  mangled: (n: number) =>
    `${n} line${s(n)} with bytes that are not UTF-8: each is shown as a replacement mark`,
  start: () => "the beginning of the conversation is not in the file",
  branches: (n: number) => `${n} abandoned branch${n === 1 ? "" : "es"} left out`,
  branchMessages: (n: number) => `${n} message${s(n)} of abandoned branches left out`,
  reverted: (n: number) => `${n} reverted message${s(n)} left out`,
  revertedParts: (n: number) => `${n} reverted part${s(n)} of a message left out`,
  sidechains: (n: number) => `${n} sidechain${s(n)} of sub-agents left out`,
  sidechainMessages: (n: number) => `${n} message${s(n)} of sidechains left out`,
  thinking: (n: number) =>
    `${n} thinking block${s(n)} kept as text: ${n === 1 ? "it has" : "they have"} no signature that another model accepts`,
  encrypted: (n: number) =>
    `${n} reasoning block${s(n)} left out: ${are(n)} encrypted for the model that wrote ${n === 1 ? "it" : "them"}`,
  images: (n: number) => `${n} image${s(n)} dropped: not in the file, or of a kind models do not take`,
  files: (n: number) =>
    `${n} file${s(n)} dropped: not in the file, too large, or of a kind models do not take`,
  failedFiles: (n: number) => `${n} image${s(n)} or file${s(n)} of failed calls dropped: an error is text`,
  notes: (n: number) => `${n} note${s(n)} of the harness to its model left out`,
  compactions: (n: number) => `${n} compaction${s(n)} without a summary left out`,
  kept: (n: number) => `${n} message${s(n)} kept beside a summary not found before it`,
  summaries: (n: number) => `${n} summar${n === 1 ? "y" : "ies"} of abandoned branches left out`,
  hidden: (n: number) => `${n} message${s(n)} that the model never saw left out`,
  unknown: (n: number) => `${n} entr${n === 1 ? "y" : "ies"} of unknown kind left out`,
  unanswered: (n: number) => `${n} call${s(n)} without a result recorded as interrupted`,
  strayResults: (n: number) => `${n} result${s(n)} without a call left out`,
  cutTexts: (n: number) => `${n} text${s(n)} cut: longer than a session keeps`,
  mendedTexts: (n: number) => `${n} text${s(n)} with half a character: shown as a replacement mark`,
  deepInputs: (n: number) => `${n} input${s(n)} of calls kept as text: nested too deep`,
  directory: () => "its directory is not on this machine",
} as const

export type LossKind = keyof typeof SENTENCES

export const createLosses = (): Losses => {
  const counts = new Map<LossKind, number>()
  return {
    add: (kind, count = 1) => {
      if (count > 0) counts.set(kind, (counts.get(kind) ?? 0) + count)
    },
    list: () =>
      Object.entries(SENTENCES).flatMap(([name, tell]) => {
        const kind = KINDS.get(name)
        const count = kind === undefined ? 0 : (counts.get(kind) ?? 0)
        return kind === undefined || count === 0 ? [] : [{ kind, count, text: tell(count) }]
      }),
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table above
const KINDS = new Map((Object.keys(SENTENCES) as LossKind[]).map((kind) => [kind as string, kind]))
