/**
 * Which paths a tool call names: for the tools of OpenCode, Claude Code, Codex and the engine, with any letter case and
 * their various field names. A shell command counts with the files that it clearly reads or patches. Unknown tools name
 * none.
 */
import { fieldAt, isJsonObject, type ToolKind } from "@meridian/protocol"

export interface ToolCall {
  readonly tool: string
  readonly input?: unknown
  /** Set by a tool that declares its kind. */
  readonly does?: ToolKind
}

export const toolPaths = ({ tool, input, does }: ToolCall): readonly string[] => {
  if (!isJsonObject(input)) return []
  const text = (...keys: readonly string[]): readonly string[] =>
    keys.flatMap((key) => {
      const value = Object.hasOwn(input, key) ? input[key] : undefined
      return typeof value === "string" && value.trim() !== "" ? [value] : []
    })
  switch (
    NAMES.get(tool.toLowerCase().replaceAll("-", "_")) ??
    (does === undefined ? "none" : BY_KIND[does])
  ) {
    case "file":
      return text("filePath", "file_path", "notebook_path", "file", "path").slice(0, 1)
    case "folder":
      return text("path")
    case "glob":
      return globFolders(text("path"), text("pattern"))
    case "command":
      return [...text("workdir"), ...shellPaths(commandOf(input))]
    case "patch":
      return text("patchText", "patch", "input").slice(0, 1).flatMap(patchPaths)
    case "none":
      return []
  }
}

type Names = "file" | "folder" | "glob" | "command" | "patch" | "none"

/** What a call names, by tool name, for the tools of every host. */
const NAMES: ReadonlyMap<string, Names> = new Map<string, Names>([
  ["read", "file"],
  ["edit", "file"],
  ["write", "file"],
  ["multiedit", "file"],
  ["notebookedit", "file"],
  ["view_image", "file"],
  ["lsp", "file"],
  ["lsp_hover", "file"],
  ["lsp_diagnostics", "file"],
  ["list", "folder"],
  ["ls", "folder"],
  ["grep", "folder"],
  ["glob", "glob"],
  ["bash", "command"],
  ["shell", "command"],
  ["exec_command", "command"],
  ["local_shell", "command"],
  ["patch", "patch"],
  ["apply_patch", "patch"],
])

/** The same for tools without a known name, by their declared kind. */
const BY_KIND: Readonly<Record<ToolKind, Names>> = {
  read: "file",
  edit: "file",
  search: "folder",
  execute: "command",
  fetch: "none",
  think: "none",
}

/** `command` or `cmd`, as one text or as a list of words. */
export const commandOf = (input: unknown): string => {
  const value = fieldAt(input, "command") ?? fieldAt(input, "cmd")
  if (typeof value === "string") return value
  return Array.isArray(value) ? value.filter((word) => typeof word === "string").join(" ") : ""
}

/** The searched folder: `path`, and the part of the pattern before its first wildcard. */
const globFolders = (paths: readonly string[], patterns: readonly string[]): readonly string[] => {
  const fixed = patterns.flatMap((pattern) => {
    const head = pattern.slice(0, 1024).split("/")
    const wild = head.findIndex((name) => /[*?[{]/.test(name))
    const folder = (wild === -1 ? head : head.slice(0, wild)).join("/")
    return folder === "" ? [] : [folder]
  })
  const [base] = paths
  if (base === undefined) return fixed
  return [base, ...fixed.map((folder) => (folder.startsWith("/") ? folder : `${base}/${folder}`))]
}

const PATCH_LINE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/
const PATCH_LIMITS = { length: 256 * 1024, paths: 50 } as const

/** The files of a patch in the `*** Begin Patch` format. Read line by line, so the cost is linear. */
const patchPaths = (patch: string): readonly string[] => {
  const paths: string[] = []
  for (const line of patch.slice(0, PATCH_LIMITS.length).split("\n")) {
    const path = line.startsWith("*** ") ? PATCH_LINE.exec(line.slice(0, 4200))?.[1]?.trim() : undefined
    if (path !== undefined && path !== "") paths.push(path)
    if (paths.length === PATCH_LIMITS.paths) break
  }
  return paths
}

const SHELL_LIMITS = { length: 4_096, paths: 10 } as const
const READERS: ReadonlySet<string> = new Set([
  "cat",
  "head",
  "tail",
  "sed",
  "nl",
  "less",
  "more",
  "bat",
  "wc",
])

/** `sed -n 1,20p src/app.ts`, `cat a b | head`: words that look like files after a command that reads them. */
const shellPaths = (command: string): readonly string[] => {
  if (command.includes("*** Begin Patch")) return patchPaths(command)
  const paths = command
    .slice(0, SHELL_LIMITS.length)
    .split(/&&|\|\||[;|\n]/)
    .flatMap((part) => {
      const [program = "", ...words] = part.trim().split(/\s+/)
      return READERS.has(program) ? words.filter(isFileWord).map(unquoted) : []
    })
  return paths.slice(0, SHELL_LIMITS.paths)
}

const isFileWord = (word: string): boolean =>
  /^["']?[\w./@~-]*[\w]\.[A-Za-z][\w]{0,9}["']?$/.test(word) && !/^["']?-/.test(word)

const unquoted = (word: string): string => word.replaceAll(/^["']|["']$/g, "")
