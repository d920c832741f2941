/** An engine in a new folder, with a scripted model that keeps its requests. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type Engine, type EngineOptions, type Reply, type ScriptRequest } from "@meridian/engine"

export interface Scene extends AsyncDisposable {
  readonly engine: Engine
  readonly directory: string
  readonly sessionID: string
  readonly requests: ScriptRequest[]
  readonly ask: (text: string) => Promise<void>
  readonly events: () => Promise<readonly { readonly type: string; readonly data: unknown }[]>
}

/** A summariser gets no tools. The words alone may occur in any text that imitates the prompt. */
export const isSummaryRequest = ({ body }: ScriptRequest): boolean => {
  const text = JSON.stringify(body)
  return text.includes("Write the checkpoint now") && text.includes('"tools":[]')
}

export const openScene = async (
  answer: (request: ScriptRequest, n: number) => Reply,
  options: Partial<EngineOptions> & { readonly contextWindow?: number } = {},
): Promise<Scene> => {
  const directory = mkdtempSync(join(tmpdir(), "meridian-layout-"))
  const requests: ScriptRequest[] = []
  const { contextWindow = 100_000, ...rest } = options
  const script = (request: ScriptRequest): Reply => {
    requests.push(request)
    return answer(request, requests.length)
  }
  const model = { provider: "scripted", contextWindow, maxOutput: 500, script } as const
  const engine = await openEngine({
    database: join(directory, "engine.sqlite"),
    models: [
      { id: "a/one", ...model },
      { id: "b/two", ...model },
    ],
    permissions: [{ action: "*", resource: "*", effect: "allow" }],
    ...rest,
  })
  const project = mkdtempSync(join(tmpdir(), "meridian-project-"))
  const { id: sessionID } = await engine.sessions.create({ location: { directory: project } })
  return {
    engine,
    directory: project,
    sessionID,
    requests,
    ask: async (text) => {
      await engine.sessions.prompt({ sessionID, prompt: { text } })
      await engine.sessions.wait(sessionID)
    },
    events: async () => {
      const events = []
      for await (const event of engine.sessions.events({ sessionID })) events.push(event)
      return events
    },
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
      rmSync(project, { recursive: true, force: true })
    },
  }
}
