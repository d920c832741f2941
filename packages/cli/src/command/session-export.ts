/** `meridian session export`: writes a session into one file. */
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { resolve } from "node:path"

import { Failure, plainText, systemCode } from "@meridian/protocol"
import { implement } from "@meridian/spaces"

import { hiddenCount, hiddenSentence, type ExportEnd } from "../export/renderer.ts"
import { writeExport } from "../export/write-export.ts"
import { processOutput } from "../output.ts"
import { openConversation } from "../sessions/open-conversation.ts"
import { readSessionName, sessionName } from "../sessions/session-name.ts"
import { SESSION_EXPORT } from "./session-export.meta.ts"

export const sessionExport = implement(SESSION_EXPORT, {
  run: async ({ session, format, output, database }, world) => {
    const name = readSessionName(session)
    await using conversation = await openConversation(name, world, database)
    const file = output === undefined ? undefined : resolve(world.cwd, output)
    let content = ""
    const { stdout } = processOutput()
    const write = (text: string): void => {
      if (world.json) content += text
      // Sessions hold output of programs, and a terminal must not obey it.
      else stdout(world.terminal.stdout ? plainText(text) : text)
    }
    const put = (to: (text: string) => void): Promise<ExportEnd> =>
      writeExport(conversation, { format, env: world.env, write: to })
    const { hidden, lost } = await (file === undefined ? put(write) : intoFile(file, put))
    return {
      session: sessionName(name),
      harness: name.keeper,
      format,
      hidden: hiddenCount(hidden),
      hidden_kinds: Object.fromEntries(hidden),
      lost,
      ...(file === undefined ? {} : { file }),
      ...(file === undefined && world.json ? { content } : {}),
    }
  },
  text: ({ file }) => file ?? "",
  notes: ({ hidden_kinds: kinds, lost }) =>
    [hiddenSentence(new Map(Object.entries(kinds))), ...lost].join("\n"),
})

/** Written whole or not at all, and readable by no other user. */
const intoFile = async (
  file: string,
  put: (to: (text: string) => void) => Promise<ExportEnd>,
): Promise<ExportEnd> => {
  const descriptor = openNew(file)
  try {
    const end = await put((text) => writeAll(descriptor, text))
    closeSync(descriptor)
    return end
  } catch (error) {
    closeSync(descriptor)
    rmSync(file, { force: true })
    throw error
  }
}

const openNew = (file: string): number => {
  try {
    return openSync(file, "wx", 0o600)
  } catch (cause) {
    if (systemCode(cause) === "EEXIST") throw new Failure("EXPORT_FILE_EXISTS", { file }, { cause })
    throw cause
  }
}

const writeAll = (descriptor: number, text: string): void => {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
}
