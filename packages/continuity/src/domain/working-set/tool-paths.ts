/** Which paths a tool call names, by the tools of OpenCode 1.18. Unknown tools name none. */

export interface ToolCall {
  readonly tool: string
  readonly input: unknown
}

export const toolPaths = ({ tool, input }: ToolCall): readonly string[] => {
  if (typeof input !== "object" || input === null) return []
  const text = (key: string): readonly string[] => {
    const value: unknown = Object.hasOwn(input, key) ? Reflect.get(input, key) : undefined
    return typeof value === "string" && value.trim() !== "" ? [value] : []
  }
  switch (tool) {
    case "read":
    case "edit":
    case "write":
    case "multiedit":
    case "lsp":
    case "lsp_hover":
    case "lsp_diagnostics":
      return [...text("filePath"), ...text("file")]
    case "list":
    case "grep":
      return text("path")
    case "glob":
      return globFolders(text("path"), text("pattern"))
    case "bash":
      return text("workdir")
    case "patch":
    case "apply_patch":
      return text("patchText").flatMap(patchPaths)
    default:
      return []
  }
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
