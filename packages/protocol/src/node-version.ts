/**
 * Why this Node cannot run us, or undefined. Alone in its file: the binary and the shipped engine ask before they load
 * anything that only a newer Node can read.
 */
export const nodeTooOld = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major > 24 || (major === 24 && minor >= 15)) return undefined
  return `ERROR [NODE_TOO_OLD]: Node ${version} cannot run Meridian, which needs 24.15 or newer. Next: install a newer Node.`
}
