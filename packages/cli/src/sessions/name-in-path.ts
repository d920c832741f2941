/** Used until the content of a session file names its id: the id is at the end of the file's name. */
export const nameInPath = (path: string): string => {
  const stem = path.slice(path.lastIndexOf("/") + 1).replace(/\.jsonl$/, "")
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(stem)?.[0] ?? stem
}
