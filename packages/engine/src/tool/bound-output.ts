/** The last step of every call: bounds what goes to the model and into the log, whatever the tool returned. */
import type { Tool, ToolContent, ToolOutput } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openSpool } from "./spool.ts"

/** A tool that pages or previews its text itself. It may add a little around it (exit code, how to continue). */
export interface SelfBoundedTool extends Tool {
  readonly boundsOwnOutput: true
}

/** Turns text beyond the bound into a preview and a file in `directory`, and media beyond its bound into a sentence. */
export const boundOutput = async (
  output: ToolOutput,
  directory: string,
  options: { readonly selfBounded?: boolean } = {},
): Promise<ToolOutput> => {
  const structured = boundStructured(output)
  const media = boundMedia(output.content)
  if (fits(media, options.selfBounded ?? false)) return { ...output, ...structured, content: media }
  const spool = openSpool(directory)
  let first = true
  for (const part of media) {
    if (part.type !== "text") continue
    if (!first) await spool.push(Buffer.from("\n"))
    first = false
    for (const piece of pieces(part.text)) await spool.push(Buffer.from(piece))
  }
  const spooled = await spool.finish()
  const pictures = media.filter((part) => part.type === "media")
  return {
    ...output,
    ...structured,
    content: [{ type: "text", text: spooled.text }, ...pictures],
    ...(spooled.outputPath === undefined ? {} : { outputPath: spooled.outputPath }),
  }
}

const PIECE = 64 * 1024

/** Slices that never split a character. */
const pieces = function* (whole: string): Generator<string> {
  for (let start = 0; start < whole.length;) {
    let end = Math.min(start + PIECE, whole.length)
    const last = whole.charCodeAt(end - 1)
    if (end < whole.length && last >= 0xd800 && last <= 0xdbff) end--
    yield whole.slice(start, end)
    start = end
  }
}

const fits = (content: readonly ToolContent[], selfBounded: boolean): boolean => {
  const lines = TOOL_LIMITS.outputLines + (selfBounded ? TOOL_LIMITS.outputSlackLines : 0)
  const bytes = TOOL_LIMITS.outputBytes + (selfBounded ? TOOL_LIMITS.outputSlackBytes : 0)
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  if (texts.reduce((sum, part) => sum + part.length + 1, -1) > bytes) return false
  const whole = texts.join("\n")
  return Buffer.byteLength(whole) <= bytes && lineBreaks(whole) <= lines
}

const lineBreaks = (whole: string): number => {
  let count = 0
  for (let at = whole.indexOf("\n"); at !== -1; at = whole.indexOf("\n", at + 1)) count++
  return count
}

const boundMedia = (content: readonly ToolContent[]): readonly ToolContent[] => {
  let parts = 0
  let bytes = 0
  return content.map((part) => {
    if (part.type === "text") return part
    const size = Math.floor((part.base64.length * 3) / 4)
    if (parts >= TOOL_LIMITS.outputMediaParts || bytes + size > TOOL_LIMITS.outputMediaBytes)
      return {
        type: "text",
        text: `[${part.mediaType}, ${size} bytes, left out: too much media in one result]`,
      }
    parts++
    bytes += size
    return part
  })
}

const boundStructured = (output: ToolOutput): Pick<ToolOutput, "structured"> => {
  if (output.structured === undefined) return {}
  const size = JSON.stringify(output.structured).length
  return { structured: size <= TOOL_LIMITS.structuredBytes ? output.structured : { leftOut: true, size } }
}
