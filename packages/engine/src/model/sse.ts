/**
 * Server-sent events, limited to what model providers use: the data of each event, in order. Comments and other fields are
 * skipped. Lines end in LF or CRLF. (https://html.spec.whatwg.org/multipage/server-sent-events.html)
 */
export interface SseReader {
  /** Throws when an event grows beyond the bound. */
  readonly push: (text: string) => void
  /** The connection ended. An event without its final empty line still counts. */
  readonly end: () => void
}

/** The most characters of one event. Providers stay far below; a server that never ends a line must not fill the memory. */
export const EVENT_LIMIT = 33_554_432

export const openSseReader = (onData: (data: string) => void, limit = EVENT_LIMIT): SseReader => {
  let rest = ""
  let data: string | undefined

  const dispatch = (): void => {
    if (data === undefined) return
    const whole = data
    data = undefined
    onData(whole)
  }

  const line = (text: string): void => {
    if (text === "") return dispatch()
    if (!text.startsWith("data")) return
    if (text.length > 4 && text[4] !== ":") return
    const value = text.slice(text[5] === " " ? 6 : 5)
    data = data === undefined ? value : `${data}\n${value}`
  }

  const push = (text: string): void => {
    const all = rest === "" ? text : rest + text
    let from = 0
    for (let to = all.indexOf("\n"); to !== -1; to = all.indexOf("\n", from)) {
      line(all.slice(from, all[to - 1] === "\r" && to > from ? to - 1 : to))
      from = to + 1
    }
    rest = all.slice(from)
    if (rest.length + (data?.length ?? 0) > limit)
      throw Object.assign(new Error("An event of the stream is too long"), { name: "AI_JSONParseError" })
  }

  return {
    push,
    end: () => {
      if (rest !== "") line(rest)
      rest = ""
      dispatch()
    },
  }
}
