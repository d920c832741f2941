/**
 * An engine whose model changes files once for every prompt that asks for it, by a tool that names the files and by a
 * command.
 */
import type { EngineOptions, Reply } from "@meridian/engine"

export const SES = { sessionID: "ses_test" } as const

export const FIRST = "prompt-one"
export const SECOND = "prompt-two"

export const undoOptions = (database: string): EngineOptions => ({
  database,
  undo: true,
  models: [
    {
      id: "fake/one",
      provider: "scripted",
      contextWindow: 1_000_000,
      maxOutput: 8_000,
      script: ({ lastUser, body }) => answer(lastUser, JSON.stringify(body)),
    },
  ],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
})

/** Decides by what it is shown, so that a session which was cut anywhere still makes sense. */
const answer = (lastUser: string, body: string): Reply => {
  const since = body.slice(body.lastIndexOf(lastUser))
  if ((lastUser !== FIRST && lastUser !== SECOND) || since.includes('"tool-call"')) return { text: "done" }
  return {
    tools: [
      { name: "write", input: { path: "named/new.txt", content: `${lastUser}\n` } },
      { name: "bash", input: { command: COMMAND } },
    ],
  }
}

const COMMAND =
  "echo two > a.txt; rm gone.txt; mkdir made; echo made > made/file; chmod +x tool; ln -sf a.txt link"
