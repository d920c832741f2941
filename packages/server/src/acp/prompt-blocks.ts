/**
 * The content blocks of an ACP prompt as a prompt of the engine. Pure. What an editor embeds (a file, a selection) becomes
 * an attachment, never part of the user's words, so text inside it cannot speak for the user.
 */
import { relative } from "node:path"
import { fileURLToPath } from "node:url"

import type { ContentBlock, EmbeddedResource, ResourceLink } from "@agentclientprotocol/sdk"
import { Failure, oneLine, type Prompt, type PromptFile } from "@meridian/protocol"

import { ACP_LIMITS } from "./limits.ts"

/** Throws a Failure for anything that cannot be sent to a model. */
export const promptOf = (blocks: readonly ContentBlock[], directory: string): Prompt => {
  const words: string[] = []
  const files: PromptFile[] = []
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        words.push(block.text)
        break
      case "image":
        files.push({ mediaType: block.mimeType, base64: base64Of(block.data, "image"), ...nameOf(block.uri) })
        break
      case "resource_link":
        words.push(linkText(block, directory))
        break
      case "resource":
        files.push(attachmentOf(block, directory))
        break
      case "audio":
        throw new Failure("ACP_CONTENT_UNSUPPORTED", { type: "audio" })
      default:
        throw new Failure("ACP_CONTENT_UNSUPPORTED", { type: String(Reflect.get(block, "type")) })
    }
  }
  const text = words.join("")
  if (text.trim() === "" && files.length === 0)
    throw new Failure("INVALID_INPUT", { what: "The prompt is empty" })
  return { text, ...(files.length === 0 ? {} : { files }) }
}

const base64Of = (data: string, what: string): string => {
  const plain = data.replaceAll(/\s+/g, "")
  if (plain === "" || plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain))
    throw new Failure("INVALID_INPUT", { what: `The ${what} is not base64` })
  return plain
}

const nameOf = (uri: string | null | undefined): { readonly name?: string } =>
  uri === null || uri === undefined || uri === "" ? {} : { name: oneLine(uri, ACP_LIMITS.titleCharacters) }

/** A file that the model can read itself is named as in a typed prompt. */
const linkText = ({ uri, name }: ResourceLink, directory: string): string => {
  const place = placeOf(uri, directory)
  const said = oneLine(place ?? uri, ACP_LIMITS.titleCharacters)
  return place === undefined ? `[${oneLine(name, ACP_LIMITS.titleCharacters)}](${said})` : `@${said}`
}

const attachmentOf = ({ resource }: EmbeddedResource, directory: string): PromptFile => {
  const name = oneLine(placeOf(resource.uri, directory) ?? resource.uri, ACP_LIMITS.titleCharacters)
  const named = name === "" ? {} : { name }
  if ("text" in resource)
    return { mediaType: "text/plain", base64: Buffer.from(resource.text).toString("base64"), ...named }
  return {
    mediaType: resource.mimeType ?? "application/octet-stream",
    base64: base64Of(resource.blob, "resource"),
    ...named,
  }
}

/** The path of a file, relative to the session's directory when inside it, followed by the lines. */
const placeOf = (uri: string, directory: string): string | undefined => {
  if (!uri.startsWith("file://")) return undefined
  try {
    const url = new URL(uri)
    const lines = /^#L(\d+)(?:[-:]L?(\d+))?/.exec(url.hash)
    const path = relative(directory, fileURLToPath(new URL(url.pathname, "file://")))
    const inside = path !== "" && !path.startsWith("..")
    const shown = inside ? path : fileURLToPath(new URL(url.pathname, "file://"))
    if (lines === null) return shown
    return `${shown}:${lines[1]}${lines[2] === undefined ? "" : `-${lines[2]}`}`
  } catch {
    return undefined
  }
}
