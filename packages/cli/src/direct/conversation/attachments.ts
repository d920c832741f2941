/** Images of one conversation that go with its prompts: named by path, or pasted and then named by a mark in the line. */
import type { PromptFile } from "@meridian/protocol"
import type { World } from "@meridian/spaces"

import { readClipboardImage } from "./clipboard-image.ts"
import { imageOf, imagesIn, type FoundImages } from "./prompt-images.ts"

export interface Attachments {
  /** The images that go with this text. */
  readonly of: (text: string) => FoundImages
  /** Takes the image in the clipboard. Returns its mark, or why there is none. */
  readonly paste: () => Promise<{ readonly mark: string } | { readonly problem: string }>
}

/** Above this, the oldest are forgotten. */
const MOST_PASTED = 20

export const openAttachments = (directory: string, env: World["env"]): Attachments => {
  const pasted = new Map<string, PromptFile>()
  let count = 0
  return {
    of: (text) => {
      const named = imagesIn(text, { directory, home: env["HOME"] })
      const marked = [...pasted].flatMap(([mark, image]) => (text.includes(mark) ? [image] : []))
      return { ...named, files: [...marked, ...named.files] }
    },
    paste: async () => {
      const bytes = await readClipboardImage(env)
      if (bytes === undefined) return { problem: "No image can be read from the clipboard here." }
      const name = `image ${count + 1}`
      const image = imageOf(bytes, name)
      if (typeof image === "string") return { problem: image }
      count += 1
      const mark = `[${name}]`
      pasted.set(mark, image)
      const [oldest] = pasted.keys()
      if (pasted.size > MOST_PASTED && oldest !== undefined) pasted.delete(oldest)
      return { mark }
    },
  }
}
