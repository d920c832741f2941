/** Addresses of providers, as people write them. */
import type { ProviderKind } from "./provider-preset.ts"

/** Scheme, credentials, host, port, path. No query and no fragment, because paths are appended to it. */
const ADDRESS = /^(https?):\/\/(?:([^\s/@]*)@)?(\[[\da-f:]+\]|[\w.-]+)(?::(\d{1,5}))?((?:\/[^\s?#]*)?)$/i

/** The version that each kind has in its path. People often leave it out. */
const VERSIONS: Readonly<Record<ProviderKind, string>> = {
  anthropic: "/v1",
  openai: "/v1",
  google: "/v1beta",
  "openai-compatible": "/v1",
}

/**
 * Adds the path of its kind if it has none, and drops a slash at the end. Undefined if it is not an http or https
 * address.
 */
export const fullAddress = (text: string, kind: ProviderKind): string | undefined => {
  const found = ADDRESS.exec(text.trim())
  if (found === null) return undefined
  const [, scheme = "", credentials, host = "", port, path = ""] = found
  if (port !== undefined && Number(port) > 65_535) return undefined
  const plain = path.replace(/\/+$/, "")
  const before = `${scheme.toLowerCase()}://${credentials === undefined ? "" : `${credentials}@`}`
  return `${before}${host}${port === undefined ? "" : `:${port}`}${plain === "" ? VERSIONS[kind] : plain}`
}

/** OLLAMA_HOST: `host`, `host:port`, `:port` or an address. A server that listens everywhere is reached on loopback. */
export const ollamaAddress = (text: string): string | undefined => {
  const typed = text.trim().replace(/\/+$/, "")
  if (typed === "") return undefined
  const url = /^https?:\/\//i.test(typed)
    ? typed
    : `http://${typed.replace(/^:/, "127.0.0.1:")}${/:\d+$/.test(typed) ? "" : ":11434"}`
  return fullAddress(url.replace("//0.0.0.0", "//127.0.0.1"), "openai-compatible")
}

export const hostOf = (address: string): string => ADDRESS.exec(address)?.[3] ?? ""

export const isLoopback = (address: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(hostOf(address))

/** Hides name and password before the host, and everything after the path: it may be a key. */
export const publicAddress = (address: string): string =>
  address.replace(/^(\w+:\/\/)[^/@]*@/, "$1<hidden>@").replace(/^(\w+:\/\/[^?#]*[?#]).+$/s, "$1<hidden>")
