/**
 * Why this Node cannot run Meridian; undefined when it can. Alone in its file, because the binary and the shipped engine
 * check it before they load anything that needs a newer Node.
 */
export const nodeTooOld = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major > 24 || (major === 24 && minor >= 15)) return undefined
  return `ERROR [NODE_TOO_OLD]: Node ${version} cannot run Meridian, which needs 24.15 or newer. Next: install a newer Node.`
}
