/** Parses `90`, `90s`, `5m`, `2h`, `1.5h` as seconds. Undefined for anything else. */
export const parseSeconds = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim())
  if (match === null) return undefined
  const seconds = Number(match[1]) * (SECONDS[match[2] ?? "s"] ?? 1)
  return Number.isFinite(seconds) ? seconds : undefined
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 }
