/**
 * Images that go with a prompt: those named by their path, as a person or a terminal writes it (a file dragged onto a
 * terminal comes quoted, with backslashes, or as an address), and pasted ones. The content of a file decides, not its
 * name: after one invalid image, a provider refuses the session for good.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

import { oneLine, signedMediaType, type PromptFile } from "@meridian/protocol"

export interface FoundImages {
  readonly files: readonly PromptFile[]
  /** Named images that cannot be sent, one sentence each. */
  readonly problems: readonly string[]
}

export const MOST_IMAGE_BYTES = 5_242_880
const MOST_IMAGES = 10
/** How many names are looked up on the disk. */
const MOST_NAMES = 200
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/iu
const QUOTED = /(["'])((?:(?!\1)[^\n])+\.(?:png|jpe?g|gif|webp))\1/giu

/** A name without a file stays text, without a message. */
export const imagesIn = (
  text: string,
  { directory, home }: { readonly directory: string; readonly home: string | undefined },
): FoundImages => {
  const files: PromptFile[] = []
  const problems: string[] = []
  const seen = new Set<string>()
  for (const written of namesIn(text)) {
    const path = pathOf(written, { directory, home })
    if (path === undefined || seen.has(path)) continue
    seen.add(path)
    const read = readImage(path)
    if (read === undefined) continue
    if (typeof read === "string") problems.push(read)
    else if (files.length < MOST_IMAGES) files.push(read)
    else problems.push(unsent(basename(path), `at most ${MOST_IMAGES} go along with one prompt`))
  }
  return { files, problems }
}

/** The image, or why it cannot be sent. */
export const imageOf = (bytes: Buffer, name: string): PromptFile | string => {
  if (bytes.length > MOST_IMAGE_BYTES)
    return unsent(name, `it is larger than ${MOST_IMAGE_BYTES / 1_048_576} MB`)
  const mediaType = signedMediaType(bytes)
  if (mediaType === undefined || !mediaType.startsWith("image/"))
    return unsent(name, "it is no PNG, JPEG, GIF or WebP")
  return { mediaType, base64: bytes.toString("base64"), name }
}

const unsent = (name: string, why: string): string => `${oneLine(name, 200)} is not sent: ${why}.`

/** Quoted stretches that end like an image's name, then words, whose spaces may be escaped. */
const namesIn = (text: string): readonly string[] => {
  const quoted = Array.from(text.matchAll(QUOTED), ([, , inside = ""]) => inside)
  const words = Array.from(text.replaceAll(QUOTED, " ").matchAll(/(?:\\.|[^\s\\])+/gu), ([word]) =>
    word
      .replaceAll(/\\(.)/gu, "$1")
      .replace(/^[@("'<]+/u, "")
      .replace(/[,.;:!?)"'>]+$/u, ""),
  )
  return [...new Set([...quoted, ...words])].filter((name) => IMAGE_NAME.test(name)).slice(0, MOST_NAMES)
}

const pathOf = (
  name: string,
  { directory, home }: { readonly directory: string; readonly home: string | undefined },
): string | undefined => {
  if (name.startsWith("file://")) {
    try {
      return fileURLToPath(name)
    } catch {
      return undefined
    }
  }
  return name.startsWith("~/") && home !== undefined ? join(home, name.slice(2)) : resolve(directory, name)
}

/** Undefined if there is no file to read. Reads no more than may be sent. */
const readImage = (path: string): PromptFile | string | undefined => {
  let file: number | undefined
  try {
    // Does not block: a pipe of that name must not hang the terminal.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = fstatSync(file)
    if (!found.isFile()) return undefined
    const content = Buffer.alloc(Math.min(found.size, MOST_IMAGE_BYTES + 1))
    return imageOf(content.subarray(0, readSync(file, content)), basename(path))
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
