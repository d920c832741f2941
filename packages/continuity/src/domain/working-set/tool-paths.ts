/**
 * Which paths a tool call names: the tools of OpenCode, Claude Code, Codex and the engine, by whatever letter case and
 * field names they use. A shell command counts with the files it plainly reads or patches. Unknown tools name none.
 */
export interface ToolCall {
  readonly tool: string
  readonly input: unknown
}

export const toolPaths = ({ tool, input }: ToolCall): readonly string[] => {
  if (typeof input !== "object" || input === null) return []
  const text = (...keys: readonly string[]): readonly string[] =>
    keys.flatMap((key) => {
      const value: unknown = Object.hasOwn(input, key) ? Reflect.get(input, key) : undefined
      return typeof value === "string" && value.trim() !== "" ? [value] : []
    })
  switch (tool.toLowerCase().replaceAll("-", "_")) {
    case "read":
    case "edit":
    case "write":
    case "multiedit":
    case "notebookedit":
    case "view_image":
    case "lsp":
    case "lsp_hover":
    case "lsp_diagnostics":
      return text("filePath", "file_path", "notebook_path", "file", "path").slice(0, 1)
    case "list":
    case "ls":
    case "grep":
      return text("path")
    case "glob":
      return globFolders(text("path"), text("pattern"))
    case "bash":
    case "shell":
    case "exec_command":
    case "local_shell":
      return [...text("workdir"), ...shellPaths(commandOf(input))]
    case "patch":
    case "apply_patch":
      return text("patchText", "patch", "input").slice(0, 1).flatMap(patchPaths)
    default:
      return []
  }
}

/** `command` or `cmd`, as one text or as words. */
export const commandOf = (input: unknown): string => {
  if (typeof input !== "object" || input === null) return ""
  const value: unknown = Reflect.get(input, "command") ?? Reflect.get(input, "cmd")
  if (typeof value === "string") return value
  return Array.isArray(value) ? value.filter((word) => typeof word === "string").join(" ") : ""
}

/** The folder that is searched: `path`, and the part of the pattern before its first wildcard. */
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

/** The files of a patch in the `*** Begin Patch` form. Line by line, so the cost is its length. */
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

/** `sed -n 1,20p src/app.ts`, `cat a b | head`: words that look like files, behind a command that reads them. */
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
