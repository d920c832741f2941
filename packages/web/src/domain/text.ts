/** Numbers in a readable form. */
export const durationText = (ms: number): string => {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export const tokensText = (count: number): string => {
  if (count < 1_000) return String(Math.round(count))
  if (count < 99_950) return `${(count / 1_000).toFixed(1)}k`
  if (count < 999_500) return `${Math.round(count / 1_000)}k`
  return `${(count / 1_000_000).toFixed(2)}M`
}

/** Small amounts need their digits. */
export const costText = (dollars: number): string =>
  dollars === 0 ? "$0" : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`

export const agoText = (thenMs: number, nowMs: number): string => {
  const secs = Math.max(0, Math.floor((nowMs - thenMs) / 1_000))
  if (secs < 5) return "now"
  if (secs < 60) return `${secs} s ago`
  if (secs < 3_600) return `${Math.floor(secs / 60)} min ago`
  if (secs < 86_400) return `${Math.floor(secs / 3_600)} h ago`
  return `${Math.floor(secs / 86_400)} d ago`
}

/** The last parts of a path distinguish places. */
export const placeText = (directory: string): string =>
  directory.split("/").filter(Boolean).slice(-2).join("/")
