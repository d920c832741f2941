/** `meridian brief`. */
import { implement } from "@meridian/spaces"

import { injectionDocument } from "../continuity/injection-document.ts"
import { BRIEF } from "./brief.meta.ts"

export const brief = implement(BRIEF, {
  run: async ({ host, injected, maxTokens }, { cwd, env }) => {
    const { makeBrief, readInjected } = await import("../continuity/index.ts")
    if (injected) {
      const { folder, entries, output } = readInjected({ cwd, env })
      return { output, folder, entries: entries.map(injectionDocument) }
    }
    const { artifact, ...made } = await makeBrief({ cwd, env, host, maxTokens })
    return artifact === null ? made : { ...made, artifact }
  },
  text: ({ output }) => output,
  notes: ({ warnings }) => (warnings ?? []).join("\n"),
})
