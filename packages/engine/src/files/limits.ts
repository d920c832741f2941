/** What keeping files may cost. */
export const FILE_LIMITS = {
  /** One call of git. */
  callMs: 30_000,
  answerBytes: 64 * 1024 * 1024,
  errorCharacters: 4_000,
  /** A larger file is in no tree. */
  fileBytes: 32 * 1024 * 1024,
  /** New and changed files of one tree. */
  changedFiles: 20_000,
  changedBytes: 256 * 1024 * 1024,
  /** Trees kept for one session. */
  trees: 400,
  /** What was kept outside of repositories, for one place, before the oldest of it goes. */
  storeBytes: 512 * 1024 * 1024,
  /** What `diff` prints. */
  diffBytes: 16 * 1024 * 1024,
} as const
