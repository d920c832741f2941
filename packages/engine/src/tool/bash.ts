/**
 * `bash`: a shell command with the rights of the user who runs the engine. It is not a sandbox on its own. The permission
 * to run is the boundary, and paths in the command are only pointed out. The engine's embedder may put commands into a
 * sandbox.
 */
import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { constants } from "node:os"
import { normalize } from "node:path"

import { alsoNamed, commandResource, described, integer, objectOf, text } from "@meridian/protocol"

import { onlyLooks } from "../domain/looking-command.ts"
import { SOME_TEXT, toolInput } from "../port/tool-input.ts"
import { ToolError, type BuiltinTool } from "../port/tool.ts"
import type { SelfBoundedTool } from "./bound-output.ts"
import { throwIfAborted } from "./describe-error.ts"
import { isDirectory } from "./glob.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { hardenGit } from "./looking-git.ts"
import type { ProcessGuard } from "./process-guard.ts"
import { callMark, scopeMark } from "./process-mark.ts"
import { askForExternal, resolvePath, type Place } from "./resolve-path.ts"
import { runCommand, type CommandResult } from "./run-command.ts"
import { openSpool, withFilter, type PieceFilter } from "./spool.ts"

/** The words that start the given command in a sandbox. If it throws, the model is told and nothing starts. */
export type WrapCommand = (
  argv: readonly string[],
  directory: string,
) => readonly string[] | Promise<readonly string[]>

export interface BashOptions extends Place {
  readonly guard: ProcessGuard
  /** Where long outputs are kept. */
  readonly outputDirectory: string
  readonly environment: { readonly [name: string]: string | undefined }
  /** Names the store that records the calls. The next engine passes the same to `endLeftovers`. */
  readonly scope?: string
  readonly shell?: string
  readonly wrapCommand?: WrapCommand | undefined
  readonly graceMs?: number
  /** Removes credentials from an output before it is kept. One filter per command. */
  readonly hidePieces?: (() => PieceFilter) | undefined
}

const INPUT = toolInput(
  objectOf(
    {
      command: alsoNamed(
        described(text({ least: 1, most: TOOL_LIMITS.commandBytes }), "The command line"),
        "cmd",
      ),
    },
    {
      timeout: alsoNamed(
        described(
          integer(1, TOOL_LIMITS.bashLongestMs),
          `Milliseconds until the command is ended (default ${TOOL_LIMITS.bashDefaultMs})`,
        ),
        "timeoutMs",
        "timeout_ms",
      ),
      workdir: alsoNamed(
        described(SOME_TEXT, "Directory to run in, relative to the working directory (default: that)"),
        "cwd",
      ),
      description: described(
        SOME_TEXT,
        "What the command does, in a few words, for the person who may be asked",
      ),
    },
  ),
)

export const bashTool = (options: BashOptions): SelfBoundedTool => ({
  boundsOwnOutput: true,
  advertisement: {
    name: "bash",
    description:
      `Runs a shell command without input and returns its output (stdout and stderr as they came) and exit code. Ended ` +
      `after \`timeout\`, ${TOOL_LIMITS.bashDefaultMs / 1000} s by default and ${TOOL_LIMITS.bashLongestMs / 1000} s at most. ` +
      `Above ${TOOL_LIMITS.outputLines} lines or ${TOOL_LIMITS.outputBytes / 1024} KiB the beginning and the end are ` +
      `returned and the full output is kept in a file. Each call is a new shell: use \`workdir\` instead of cd. A process ` +
      `left in the background (\`&\`) runs until the engine ends.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const input = INPUT.decode(raw)
    if (input.command.includes("\0"))
      throw new ToolError("invalid-input", "A command cannot contain a NUL character.")
    if (Buffer.byteLength(input.command) > TOOL_LIMITS.commandBytes)
      throw new ToolError(
        "invalid-input",
        `\`command\` is longer than ${TOOL_LIMITS.commandBytes} bytes; write a script file and run that.`,
      )
    const directory = await resolvePath(options, input.workdir ?? ".")
    const outside = pathsOutside(input.command, await realpath(options.root))
    await askForExternal(scene, [directory], "Run a command")
    await scene.ask({
      action: "bash",
      resources: [commandResource(input.command, directory.fromHere)],
      title: input.description ?? input.command.slice(0, 200),
      detail: {
        command: input.command.slice(0, TOOL_LIMITS.detailCharacters),
        directory: directory.resource,
        ...(outside.length === 0 ? {} : { outside }),
      },
    })
    throwIfAborted(scene.signal)
    if (!(await isDirectory(directory)))
      throw new ToolError("failed", `\`workdir\` ${JSON.stringify(directory.named)} is not a directory.`)
    const timeoutMs = input.timeout ?? TOOL_LIMITS.bashDefaultMs
    const line = await hardenGit(
      { command: input.command, environment: options.environment },
      directory.absolute,
    )
    const shell = options.shell ?? (existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh")
    const argv = [shell, "-c", line.command]
    const result = await runCommand({
      argv: (await options.wrapCommand?.(argv, directory.absolute)) ?? argv,
      environment: line.environment,
      directory: directory.absolute,
      callMark: callMark(scene),
      otherMarks: options.scope === undefined ? [] : [scopeMark(options.scope)],
      guard: options.guard,
      spool: withFilter(openSpool(options.outputDirectory), options.hidePieces?.()),
      timeoutMs,
      graceMs: options.graceMs ?? TOOL_LIMITS.bashGraceMs,
      signal: scene.signal,
    })
    return present(result, { timeoutMs, outside })
  },
})

export const BASH: BuiltinTool<BashOptions> = {
  name: "bash",
  traits: {
    kind: "execute",
    changes: (input) => (onlyLooks(INPUT.decode(input).command) ? "none" : "any"),
    looking: { at: "project", resources: ["git status", "git log", "git diff"] },
  },
  open: bashTool,
}

const present = (
  { end, output }: CommandResult,
  context: { readonly timeoutMs: number; readonly outside: readonly string[] },
) => {
  if (end.type === "timeout")
    throw new ToolError(
      "timeout",
      `The command was ended after ${context.timeoutMs / 1000} s (timeout), with all its processes. Give a longer timeout ` +
        `(at most ${TOOL_LIMITS.bashLongestMs} ms) or a shorter task.${lastWords(output)}`,
    )
  if (end.type === "interrupted")
    throw new ToolError(
      "interrupted",
      `The command was interrupted and all its processes were ended.${lastWords(output)}`,
    )
  const body = output.text === "" ? "(no output)" : output.text.replace(/\n$/, "")
  const signal = end.exit === undefined ? "SIGKILL" : signalOf(end.exit)
  const notes = [
    end.exit === undefined
      ? "[the shell was killed from outside]"
      : `[exit code ${end.exit}${signal === undefined ? "" : `, as after ${signal}`}]`,
    ...(end.background.length === 0
      ? []
      : [`[still running in the background: ${end.background.slice(0, 20).join(", ")}]`]),
    ...(context.outside.length === 0
      ? []
      : [`[note: the command names paths outside the project: ${context.outside.join(", ")}]`]),
  ]
  return {
    content: [{ type: "text" as const, text: `${body}\n\n${notes.join("\n")}` }],
    structured: {
      exit: end.exit ?? null,
      ...(signal === undefined ? {} : { signal }),
      ...(end.background.length === 0 ? {} : { background: [...end.background] }),
      ...(context.outside.length === 0 ? {} : { outside: [...context.outside] }),
      cut: output.cut,
    },
    ...(output.outputPath === undefined ? {} : { outputPath: output.outputPath }),
  }
}

/** The end of the command's output, for an error that has no room for all of it. */
const lastWords = ({ text: said, outputPath }: CommandResult["output"]): string => {
  if (said === "") return " It had said nothing."
  if (said.length <= TOOL_LIMITS.bashErrorCharacters) return ` It had said:\n${said}`
  const where = outputPath === undefined ? "" : ` (the whole is in ${outputPath})`
  return ` The last it had said${where}:\n${said.slice(-TOOL_LIMITS.bashErrorCharacters)}`
}

const signalOf = (exit: number): string | undefined =>
  exit <= 128 ? undefined : Object.entries(constants.signals).find(([, number]) => number === exit - 128)?.[0]

const HARMLESS = new Set(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/"])
const MOST_PATHS = 5

/** Absolute arguments outside the project, found by a quick scan: advice, not a boundary. */
export const pathsOutside = (command: string, root: string): readonly string[] => {
  const named = command.matchAll(/(?:^|[\s=(<>])["']?(\/[^\s"'`;|&<>()$*?{}\\]*)/g)
  const outside = new Set<string>()
  for (const [, path = ""] of named) {
    const plain = normalize(path)
    if (HARMLESS.has(plain) || plain === root || plain.startsWith(root === "/" ? "/" : `${root}/`)) continue
    outside.add(plain)
    if (outside.size >= MOST_PATHS) break
  }
  return [...outside]
}
