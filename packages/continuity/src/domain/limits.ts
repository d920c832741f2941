/**
 * Every bound of the library in one place, in two groups: what may be read (a hostile tree costs no more than a large one)
 * and what may be said (a hostile text takes no more room than a long one). `limits.test.ts` checks them against each
 * other.
 */
export const READ_LIMITS = {
  /** Per file; the rest is not read. */
  fileBytes: 256 * 1024,
  /** Per line, in UTF-16 units; the rest of the line is cut. */
  lineLength: 4096,
  /** Per file, in lines; the rest is omitted. */
  fileLines: 2000,
  /** For all files of one brief together. */
  totalBytes: 4 * 1024 * 1024,
  /** Per folder; the rest is not listed. */
  folderEntries: 4096,
  /** Names and files checked for one brief. */
  operations: 12_000,
  /** From the first disk access; later reads are refused. A hook has 250 ms in total. */
  timeMs: 120,
  /** Checks that are allowed whatever the time: on a busy machine an ordinary project must not lose its brief. */
  patientOperations: 200,
} as const

export type ReadLimits = { readonly [Name in keyof typeof READ_LIMITS]: number }

export const TEXT_LIMITS = {
  /** One bullet, in UTF-16 units. */
  bulletLength: 300,
  /** One path. */
  pathLength: 300,
  /** The task, word for word. The rest of a longer one is omitted, with a note. */
  taskLength: 2000,
  /** A spoken sentence, word for word. */
  spokenLength: 600,
  briefTokens: 1000,
} as const
