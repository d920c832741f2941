/** Files a person names in what they write: found for Tab, and images taken along with the prompt. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs"
import { basename, dirname, extname, join, resolve } from "node:path"

import type { Prompt } from "@meridian/protocol"

type PromptFile = NonNullable<Prompt["files"]>[number]

const MOST_CHOICES = 200
const MOST_IMAGES = 10
const MOST_IMAGE_BYTES = 5_242_880

/** Paths below `directory` that begin so. Hidden ones only when they are asked for; none where nothing can be read. */
export const filesBeginning = (directory: string, begun: string): readonly string[] => {
  const folder = begun.endsWith("/") ? begun : begun.includes("/") ? `${dirname(begun)}/` : ""
  const isHiddenAsked = basename(begun).startsWith(".") && !begun.endsWith("/")
  try {
    return readdirSync(resolve(directory, folder), { withFileTypes: true })
      .filter(({ name }) => (isHiddenAsked || !name.startsWith(".")) && !/\s/u.test(name))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .filter((path) => path.startsWith(begun))
      .toSorted()
      .slice(0, MOST_CHOICES)
  } catch {
    return []
  }
}

const IMAGES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
}

/** Images named by their path, with or without `@`. What is no readable file of a sensible size stays words. */
export const imagesIn = (text: string, directory: string): readonly PromptFile[] => {
  const paths = new Set(text.match(/\S+/gu)?.map((word) => word.replace(/^@/, "").replace(/[,.;:!?)]+$/, "")))
  const images: PromptFile[] = []
  for (const path of paths) {
    const mediaType = IMAGES[extname(path).toLowerCase()]
    if (mediaType === undefined || images.length >= MOST_IMAGES) continue
    const content = readWhole(join(resolve(directory, path)))
    if (content !== undefined)
      images.push({ mediaType, base64: content.toString("base64"), name: basename(path) })
  }
  return images
}

const readWhole = (path: string): Buffer | undefined => {
  let file: number | undefined
  try {
    file = openSync(path, "r")
    const found = fstatSync(file)
    if (!found.isFile() || found.size === 0 || found.size > MOST_IMAGE_BYTES) return undefined
    const content = Buffer.alloc(found.size)
    return content.subarray(0, readSync(file, content))
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
