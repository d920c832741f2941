/** Every bound of the state on disk and of a run, in one table. */
export const LIMIT = {
  /** A longer line of a log was not written by us: it is damage, and is skipped without being held in memory. */
  lineBytes: 1_048_576,
  /** What one event may weigh; half of the above, so that what we write can always be read. */
  eventBytes: 524_288,
  /** A small file read whole (`space.json`, front of a report). */
  documentBytes: 1_048_576,
  /** Read from the end of a log in pieces of this size. */
  chunkBytes: 262_144,
  /** The end of a log that every look at it checks for damage, needed or not. */
  damageBytes: 524_288,
  /** How long an append waits for whoever holds the lock of the log. */
  appendWaitMs: 30_000,
  /** How long a liveness lock may be blocked by somebody who only looks. */
  livenessWaitMs: 2_000,
  /** How long the trust store may be held by another command, and how often one looks. */
  exclusiveWaitMs: 10_000,
  exclusiveStepMs: 20,
  /** Lock files handed to one probing process. */
  probeBatch: 512,
  /** All raw output of one attempt that is kept on disk. */
  rawLogBytes: 268_435_456,
  /** After the harness has ended: how long output that is still in the pipe (or a grandchild holding it) is waited for. */
  drainMs: 1_000,
  /** A report, on disk and in an answer. */
  reportBytes: 4_194_304,
  /** Last part of stderr used to explain and classify a failure. */
  stderrTailBytes: 16_384,
  /** Front matter of one profile or skill, and of all that one command reads. */
  frontMatterBytes: 32_768,
  frontMatterScanBytes: 1_048_576,
  /** All profiles or skills that one command reads. */
  profileScanBytes: 33_554_432,
  /** Entries looked at in one folder of profiles or skills; folders looked into; how deep. */
  folderEntries: 1_000,
  profileFolders: 1_000,
  profileDepth: 8,
  promptBytes: 10_485_760,
  nameCharacters: 200,
  /** What one call of git may answer, and a file of a git folder that names another. */
  /** Runs without a worktree whose checkout is kept as it was. */
  keptRunTrees: 100,
  gitAnswerBytes: 67_108_864,
  gitFileBytes: 65_536,
  /** A diff that a program asked for through a tool or over HTTP. */
  toldDiffBytes: 1_048_576,
  /** New or changed files of a worktree that are taken over, all in all, and how many there may be. */
  worktreeBytes: 1_073_741_824,
  worktreeFiles: 200_000,
  /** Files that `.worktreeinclude` names. */
  includedBytes: 2_147_483_648,
  includedFiles: 100_000,
  /** Commits of a run that are applied one by one; more become one. */
  replayedCommits: 100,
  /** How often applying begins again because the branch has moved meanwhile. */
  applyRounds: 5,
  /** Output of a check or of the setup of a worktree: kept on disk, told to the agent, kept in the log. */
  outputBytes: 16_777_216,
  toldOutputBytes: 65_536,
  recordedOutputBytes: 8_192,
  setupMs: 1_800_000,
  /** A script that a check starts and that is read for the names of others. */
  scriptBytes: 65_536,
  /** How often a queued run, or a waiting command, looks again. */
  pollMs: 100,
} as const
