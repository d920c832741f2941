import { join } from "node:path"

import type { LaunchRequest, PlannedFile } from "../port/harness.ts"
import { fitsArgument } from "./instructions.ts"

/** The first words of an interactive session travel as an argument, or as a file if they are too long. */
export const firstMessage = (
  request: LaunchRequest,
): { readonly text?: string; readonly files: readonly PlannedFile[] } => {
  const { prompt, scratch } = request
  if (prompt === undefined || prompt === "") return { files: [] }
  if (fitsArgument(prompt)) return { text: prompt, files: [] }
  const path = join(scratch, "first-message.md")
  return { text: `Read ${path} and do what it asks.`, files: [{ path, content: prompt }] }
}
