/** What a session of ours is called in lists: whose it is, then what it is about. */
import { oneLine } from "@meridian/protocol"

export const chatTitle = (space: string, chat: string): string => `${space}: chat ${chat}`

export const aboutTitle = (title: string, about: string): string => {
  const line = oneLine(about, MOST_CHARACTERS)
  return line === "" ? title : `${title}: ${line}`
}

const MOST_CHARACTERS = 80

/** Given by us, and nothing about it is known yet. */
export const isBareTitle = (title: string | undefined): title is string =>
  title !== undefined && /^s\d+: chat c\d+$/.test(title)

/** Nobody chose it: nothing to tell. */
export const isOwnTitle = (title: string): boolean => /^s\d+: chat c\d+: /.test(title)
