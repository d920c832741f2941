/**
 * The page's files, read into a table at the start. A request is looked up in the table and never becomes a path, so no
 * address can reach another file of the machine.
 */
import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { extname, join } from "node:path"
import { gzipSync } from "node:zlib"

import { SAFE_HEADERS } from "./answer.ts"

export interface PageFiles {
  readonly has: (path: string) => boolean
  /** Returns whether it answered. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, path: string) => boolean
}

interface PageFile {
  readonly type: string
  readonly bytes: Buffer
  readonly zipped: Buffer | undefined
  readonly tag: string
}

const MOST_FILES = 500
const MOST_BYTES = 16 * 1024 * 1024

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
}

/** Allows nothing from other origins, nothing inline, no frame around the page and no form to elsewhere. */
export const PAGE_HEADERS = {
  ...SAFE_HEADERS,
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
  "cache-control": "no-cache",
}

export const readPageFiles = (directory: string | undefined): PageFiles => {
  const files = directory === undefined ? new Map<string, PageFile>() : readTable(directory)
  const index = files.get("/index.html")
  if (index !== undefined) files.set("/", index)
  return {
    has: (path) => files.has(path),
    answer: (request, response, path) => {
      const file = files.get(path)
      if (file === undefined) return false
      send(request, response, file)
      return true
    },
  }
}

const send = (request: IncomingMessage, response: ServerResponse, file: PageFile): void => {
  const headers = { ...PAGE_HEADERS, etag: file.tag, vary: "accept-encoding" }
  if (request.headers["if-none-match"] === file.tag) {
    response.writeHead(304, headers).end()
    return
  }
  const wantsZip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")
  const body = wantsZip && file.zipped !== undefined ? file.zipped : file.bytes
  response.writeHead(200, {
    ...headers,
    "content-type": file.type,
    "content-length": body.length,
    ...(body === file.bytes ? {} : { "content-encoding": "gzip" }),
  })
  response.end(body)
}

const readTable = (directory: string): Map<string, PageFile> => {
  const table = new Map<string, PageFile>()
  let bytes = 0
  for (const name of listFiles(directory)) {
    const type = TYPES[extname(name)]
    if (type === undefined || table.size >= MOST_FILES) continue
    const content = readFileSync(join(directory, name))
    bytes += content.length
    if (bytes > MOST_BYTES) break
    const zipped = /^(text|application|image\/svg)/.test(type) ? gzipSync(content, { level: 9 }) : undefined
    const tag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`
    table.set(`/${name}`, { type, bytes: content, zipped, tag })
  }
  return table
}

/** Only regular files, because a link could point anywhere. Empty when there is no page. */
const listFiles = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => lstatSync(join(directory, name)).isFile())
      .toSorted()
  } catch {
    return []
  }
}
