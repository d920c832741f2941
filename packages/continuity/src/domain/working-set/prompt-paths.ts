/**
 * Paths that a person names in a prompt: "create src/new/x.ts" names a file that does not exist yet, and its rules should
 * be known before it is written. Words with a slash count when they end like a file or a folder; words without a slash
 * count when they end in an extension. Addresses, dates, versions and "and/or" do not count.
 */
export const PROMPT_PATH_LIMITS = { length: 32 * 1024, paths: 50, pathLength: 300 } as const

export const promptPaths = (prompt: string): readonly string[] => {
  const paths = new Set<string>()
  for (const word of prompt.slice(0, PROMPT_PATH_LIMITS.length).split(/[\s"'`()[\]{}<>,;]+/)) {
    const path = word.replace(/^@(?=[\w./])/, "").replace(/[.!?:]+$/, "")
    if (path.length <= PROMPT_PATH_LIMITS.pathLength && isPath(path)) paths.add(path)
    if (paths.size === PROMPT_PATH_LIMITS.paths) break
  }
  return [...paths]
}

const isPath = (word: string): boolean => {
  if (word.includes("://") || /[@*?|$=]/.test(word.slice(1)) || /^[\d./:-]*$/.test(word)) return false
  if (!word.includes("/")) return FILE.test(word) && !NAMES.test(word)
  return /^\.{1,2}\//.test(word) || word.endsWith("/") || FILE.test(word.slice(word.lastIndexOf("/") + 1))
}

/** A name and an extension of letters, or a name that begins with a dot. */
const FILE = /^(?:[\p{L}\p{N}_.@-]*[\p{L}\p{N}_-]\.[A-Za-z][A-Za-z0-9]{0,9}|\.[a-z][\w.-]{1,40})$/u

/** Words with a full stop that are not files. */
const NAMES =
  /^(?:(?:node|next|vue|react|express|three|d3|nuxt|ember|backbone|moment|bun|deno|angular)\.js|e\.g|i\.e|a\.m|p\.m|etc\..*|vs\..*)$/i
