/** What keeping files may cost. */
export const FILE_LIMITS = {
  /** One call of git. */
  callMs: 30_000,
  answerBytes: 64 * 1024 * 1024,
  errorCharacters: 4_000,
  /** Larger files are not kept. */
  fileBytes: 32 * 1024 * 1024,
  /** New and changed files of one tree. */
  changedFiles: 20_000,
  changedBytes: 256 * 1024 * 1024,
  /** Changed files that the index of a place need not know: their number and their bytes. */
  readAgain: 100,
  readAgainBytes: 1024 * 1024,
  /** Trees kept for one session. */
  trees: 400,
  /** For one place outside a repository: bytes kept before the oldest trees are dropped. */
  storeBytes: 512 * 1024 * 1024,
  /** The output of `diff`. */
  diffBytes: 16 * 1024 * 1024,
} as const
