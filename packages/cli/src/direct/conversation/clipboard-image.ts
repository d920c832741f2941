/**
 * The image in the clipboard of the person at the terminal. No terminal sends one with a paste, so we ask the
 * desktop's programs, each for the first format it has. Over ssh, or without such a program, there is none.
 */
import { execFile } from "node:child_process"

import { MOST_IMAGE_BYTES } from "./prompt-images.ts"

const LONGEST_MS = 3_000

export const readClipboardImage = async (
  env: Readonly<Record<string, string | undefined>>,
): Promise<Buffer | undefined> => {
  for (const { command, args, isHex } of programsFor(process.platform, env)) {
    const said = await outputOf(command, args, env)
    const image = isHex === true ? fromHex(said) : said
    if (image.length > 0) return image
  }
  return undefined
}

interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** AppleScript prints bytes as `«data PNGf8950…»`. */
  readonly isHex?: true
}

const TYPES = ["image/png", "image/jpeg"] as const

const programsFor = (
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): readonly Program[] => {
  if (platform === "darwin")
    return [{ command: "osascript", args: ["-e", "the clipboard as «class PNGf»"], isHex: true }]
  const has = (name: string): boolean => (env[name] ?? "") !== ""
  return [
    ...(has("WAYLAND_DISPLAY") ? TYPES.map((type) => wayland(type)) : []),
    ...(has("DISPLAY") ? TYPES.map((type) => xWindow(type)) : []),
  ]
}

const wayland = (type: string): Program => ({ command: "wl-paste", args: ["--no-newline", "--type", type] })

const xWindow = (type: string): Program => ({
  command: "xclip",
  args: ["-selection", "clipboard", "-target", type, "-out"],
})

/** Empty if the program is missing, fails, takes too long or prints more than can be sent. */
const outputOf = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Buffer> =>
  new Promise((done) => {
    execFile(
      command,
      [...args],
      {
        env: { ...env },
        timeout: LONGEST_MS,
        killSignal: "SIGKILL",
        maxBuffer: 2 * MOST_IMAGE_BYTES + 1_024,
        encoding: "buffer",
      },
      (error, stdout) => done(error === null ? stdout : Buffer.alloc(0)),
    )
  })

const fromHex = (said: Buffer): Buffer =>
  Buffer.from(/«data PNGf([0-9A-F]*)»/u.exec(said.toString("utf8"))?.[1] ?? "", "hex")
