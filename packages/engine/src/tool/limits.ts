/** Every bound of the built-in tools, in one table. Descriptions for the model use the same numbers. */
import { assert } from "../domain/assert.ts"
import { LIMITS } from "../domain/limits.ts"

const KIB = 1024
const MIB = 1024 * KIB
const SECOND = 1000

export const TOOL_LIMITS = {
  /** Linux's own limits, checked first so that the refusal names the reason. */
  pathBytes: 4096,
  segmentBytes: 255,
  linkHops: 40,
  openAttempts: 3,

  readLines: 2000,
  readBytes: 50 * KIB,
  readLineCharacters: 2000,
  readSampleBytes: 64 * KIB,
  readMediaBytes: 5 * MIB,
  /** How far into a file an `offset` may be. Beyond that, grep or bash is better. */
  readScanBytes: 64 * MIB,
  directoryEntries: 1000,
  directoryScanEntries: 100_000,

  patternCharacters: 1000,
  globAlternatives: 64,
  globResults: 1000,
  grepMatches: 1000,
  grepDefaultMatches: 200,
  /** Larger files are searched only when they are named. */
  grepFileBytes: 5 * MIB,
  grepBatchBytes: 2 * MIB,
  grepLineCharacters: 400,
  walkEntries: 200_000,
  walkDepth: 64,
  walkParallel: 16,
  searchMs: 20 * SECOND,
  /** Simultaneous searches per Location. Each may hold a worker thread. */
  searchesAtOnce: 4,
  ignoreFileBytes: 256 * KIB,
  ignoreRules: 2000,

  editFileBytes: 10 * MIB,
  writeBytes: 10 * MIB,
  patchBytes: 4 * MIB,
  patchFiles: 200,
  detailCharacters: 2000,

  /** Linux refuses a single argument of 128 KiB. */
  commandBytes: 100_000,
  bashDefaultMs: 120 * SECOND,
  bashLongestMs: 600 * SECOND,
  bashGraceMs: 3 * SECOND,
  /** How much of the output's end an error carries. Errors are recorded shorter than results. */
  bashErrorCharacters: 3000,
  /** How long to wait for output when the shell is gone and another process still holds its pipe. */
  bashQuietMs: 100,
  leftoversMs: 5 * SECOND,

  outputLines: 2000,
  outputBytes: 50 * KIB,
  /** The share of a cut output that is taken from its end. Failures are usually reported last. */
  outputTailShare: 0.5,
  outputFileBytes: 256 * MIB,
  outputMediaBytes: 20 * MIB,
  outputMediaParts: 20,
  /** What a tool that bounds its own text may add: exit code, warnings, how to continue. */
  outputSlackLines: 60,
  outputSlackBytes: 8 * KIB,
  structuredBytes: 256 * KIB,
  /** Older files are removed when a new one is created. */
  outputKeptMs: 7 * 24 * 3600 * SECOND,
  outputSweepFiles: 1000,

  taskTitleCharacters: 200,
  taskPromptCharacters: 100_000,
  taskResultCharacters: 30_000,

  webUrlCharacters: 2_000,
  webBytes: 512 * KIB,
  webMs: 20 * SECOND,
  webRedirects: 5,

  todoItems: 100,
  todoCharacters: 1000,

  toolNameCharacters: 64,
  descriptionCharacters: 10_000,

  mcpConnectMs: 15 * SECOND,
  mcpCallMs: 120 * SECOND,
  /** How long an aborted call may continue before the server is told to cancel it. */
  mcpGraceMs: 4 * SECOND,
  mcpCloseMs: 500,
  /** One message of a server. Media in a result comes as base64 inside it. */
  mcpMessageBytes: 32 * MIB,
  mcpServers: 50,
  mcpTools: 200,
  mcpResources: 2_000,
  mcpPages: 20,
  mcpBackoffMs: 1 * SECOND,
  mcpLongestBackoffMs: 30 * SECOND,
} as const

type ToolLimits = { readonly [name in keyof typeof TOOL_LIMITS]: number }

/** Bounds depend on each other. A table that breaks a relation stops the engine at start. */
export const assertLimits = (limits: ToolLimits): void => {
  const relations: readonly (readonly [holds: boolean, sentence: string])[] = [
    [limits.segmentBytes < limits.pathBytes, "a segment is shorter than a path"],
    [limits.readBytes <= limits.outputBytes, "a page of read passes the output bound uncut"],
    [limits.readLines <= limits.outputLines, "the lines of a page pass the output bound uncut"],
    [limits.readLineCharacters * 4 <= limits.readBytes, "a cut line fits a page, whatever its characters"],
    [limits.readSampleBytes <= limits.readMediaBytes, "the sample is not larger than media"],
    [limits.readMediaBytes <= limits.outputMediaBytes, "media that read gives passes the output bound"],
    [limits.directoryEntries <= limits.outputLines, "a page of a directory fits the output"],
    [limits.directoryEntries <= limits.directoryScanEntries, "a directory page is smaller than a scan"],
    [limits.globResults <= limits.walkEntries, "a walk can find as much as glob may return"],
    [limits.grepDefaultMatches <= limits.grepMatches, "grep's default is within its bound"],
    [limits.grepBatchBytes <= limits.grepFileBytes, "a batch is not larger than the largest file"],
    [limits.commandBytes < 128 * KIB, "a command fits one argument"],
    [limits.bashDefaultMs <= limits.bashLongestMs, "the default timeout is within the longest"],
    [limits.bashQuietMs < limits.bashGraceMs, "settling is quicker than the grace"],
    [limits.outputBytes < limits.outputFileBytes, "a file holds more than a preview"],
    [limits.patchBytes <= limits.writeBytes, "what a patch adds could be written"],
    [limits.mcpBackoffMs <= limits.mcpLongestBackoffMs, "backoff grows"],
    [
      limits.outputMediaBytes * (4 / 3) <= limits.mcpMessageBytes,
      "media that may be returned fits a message",
    ],
    [limits.mcpGraceMs < LIMITS.toolAbortGraceMs, "an aborted call is cancelled before nobody waits for it"],
    [limits.mcpConnectMs <= limits.mcpCallMs, "connecting is quicker than a call may last"],
  ]
  for (const [holds, sentence] of relations) assert(holds, sentence)
}

assertLimits(TOOL_LIMITS)
