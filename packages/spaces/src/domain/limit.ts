/** Every bound of the state on disk and of a run, in one table. */
export const LIMIT = {
  /** We never write a longer line. It is damage, and is skipped without being held in memory. */
  lineBytes: 1_048_576,
  /** The largest event: half of a line, so that whatever we write can be read. */
  eventBytes: 524_288,
  /** A small file that is read whole (`space.json`, the front of a report). */
  documentBytes: 1_048_576,
  /** Piece size for reading a log from its end. */
  chunkBytes: 262_144,
  /** The end of a log that every read checks for damage, whether it needs that part or not. */
  damageBytes: 524_288,
  /** How long an append waits for the holder of the log's lock. */
  appendWaitMs: 30_000,
  /** How long a process that only looks may block a liveness lock. */
  livenessWaitMs: 2_000,
  /** How long another command may hold the trust store, and how often we look. */
  exclusiveWaitMs: 10_000,
  exclusiveStepMs: 20,
  /** Lock files given to one probing process. */
  probeBatch: 512,
  /** The raw output of one attempt that is kept on disk. */
  rawLogBytes: 268_435_456,
  /** How long to wait, after the harness has ended, for output still in the pipe (or held by a grandchild). */
  drainMs: 1_000,
  /** A report, on disk and in an answer. */
  reportBytes: 4_194_304,
  /** The last part of stderr, which explains and classifies a failure. */
  stderrTailBytes: 16_384,
  /** The front matter of one profile or skill, and of all that one command reads. */
  frontMatterBytes: 32_768,
  frontMatterScanBytes: 1_048_576,
  /** All profiles or skills that one command reads. */
  profileScanBytes: 33_554_432,
  /** For profiles or skills: entries looked at in one folder, folders looked into, and depth. */
  folderEntries: 1_000,
  profileFolders: 1_000,
  profileDepth: 8,
  promptBytes: 10_485_760,
  nameCharacters: 200,
  /** Runs without a worktree whose starting checkout is kept. */
  keptRunTrees: 100,
  /** What one call of git may answer, and a file of a git folder that names another folder. */
  gitAnswerBytes: 67_108_864,
  gitFileBytes: 65_536,
  /** A diff requested through a tool or over HTTP. */
  toldDiffBytes: 1_048_576,
  /** New or changed files of a worktree that are taken over: their total size and number. */
  worktreeBytes: 1_073_741_824,
  worktreeFiles: 200_000,
  /** Files that `.worktreeinclude` names. */
  includedBytes: 2_147_483_648,
  includedFiles: 100_000,
  /** Commits of a run that are applied one by one; more become a single commit. */
  replayedCommits: 100,
  /** How often applying starts over because the branch moved. */
  applyRounds: 5,
  /** Output of a check or of a worktree's setup: kept on disk, sent to the agent, kept in the log. */
  outputBytes: 16_777_216,
  toldOutputBytes: 65_536,
  recordedOutputBytes: 8_192,
  setupMs: 1_800_000,
  /** A script that a check starts, read for the names of other scripts. */
  scriptBytes: 65_536,
  /** How often a queued run or a waiting command looks again. */
  pollMs: 100,
} as const
