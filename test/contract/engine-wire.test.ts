/** Native reasoning on the four real wires: it goes back to its model, and never across a compaction or a model switch. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type Reply } from "@meridian/engine"
import { startScriptedProvider } from "@meridian/testkit"
import { describe, expect } from "vitest"

import { verifies } from "../verifies.ts"

const WIRES = [
  {
    provider: "anthropic",
    path: "/v1",
    native: (n: number) => ({ text: `thought ${n}`, signature: `sig-${n}` }),
    mark: "sig-",
  },
  {
    provider: "openai",
    path: "/v1",
    native: (n: number) => ({ text: `thought ${n}`, encrypted: `enc-${n}`, id: `rs_${n}` }),
    mark: "enc-",
  },
  {
    provider: "openai-compatible",
    path: "/v1",
    native: (n: number) => ({ text: `thought ${n}` }),
    mark: "reasoning_content",
  },
  {
    provider: "google",
    path: "/v1beta",
    native: (n: number) => ({ text: `thought ${n}`, signature: `sig-${n}` }),
    mark: "sig-",
  },
] as const

describe.each(WIRES)("$provider", ({ provider, path, native, mark }) => {
  verifies(
    "compaction.no-native",
    async () => {
      let answers = 0
      await using server = await startProvider((summary) => {
        answers += 1
        return summary
          ? { text: "## Objective\n- go on" }
          : { reasoning: native(answers), text: `answer ${answers}` }
      })
      const folder = mkdtempSync(join(tmpdir(), "meridian-wire-"))
      const model = {
        provider,
        baseURL: `${server.url}${path}`,
        apiKey: "key",
        contextWindow: 100_000,
        maxOutput: 1_000,
      } as const
      const engine = await openEngine({
        database: ":memory:",
        models: [
          { id: "w/one", model: "one", ...model },
          { id: "w/two", model: "two", ...model },
        ],
        permissions: [{ action: "*", resource: "*", effect: "allow" }],
        compaction: { keepTokens: 1 },
      })
      const { id: sessionID } = await engine.sessions.create({ location: { directory: folder } })
      const ask = async (text: string): Promise<string> => {
        await engine.sessions.prompt({ sessionID, prompt: { text } })
        await engine.sessions.wait(sessionID)
        return server.last()
      }
      await ask("first")
      expect(await ask("second")).toContain(mark)
      await ask("third")
      await engine.sessions.compact(sessionID)
      const across = await ask("fourth")
      expect(across).toContain("<checkpoint>")
      expect(across).not.toContain(mark)
      expect(await ask("fifth")).toContain(mark)
      await engine.sessions.switchModel({ sessionID, model: "w/two" })
      const switched = await ask("sixth")
      expect(switched).not.toContain(mark)
      expect(switched).toContain("thought ")
      await engine.close()
      rmSync(folder, { recursive: true, force: true })
    },
    "reasoning goes back to its model, not over a boundary and not to another model",
  )
})

verifies(
  "native.same-model",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "meridian-wire-"))
    const provider = await startScriptedProvider({
      script: [
        {
          reasoning: { text: "look first", signature: "sig-call" },
          tools: [{ name: "glob", input: { pattern: "*" } }],
        },
        { text: "Empty." },
      ],
    })
    const engine = await openEngine({
      database: ":memory:",
      models: [
        {
          id: "google/gemini-3-pro",
          provider: "google",
          baseURL: `${provider.url}/v1beta`,
          apiKey: "key",
          contextWindow: 100_000,
          maxOutput: 1_000,
          price: { input: 1, output: 2 },
        },
      ],
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
    })
    const { id: sessionID } = await engine.sessions.create({ location: { directory: folder } })
    await engine.sessions.prompt({ sessionID, prompt: { text: "what is here?" } })
    await engine.sessions.wait(sessionID)
    expect(provider.requests[1]?.body).toMatchObject({
      contents: [
        { role: "user" },
        {
          role: "model",
          parts: [
            { text: "look first", thought: true },
            { functionCall: { name: "glob", args: { pattern: "*" } }, thoughtSignature: "sig-call" },
          ],
        },
        { role: "user", parts: [{ functionResponse: { name: "glob" } }] },
      ],
    })
    await engine.close()
    await provider.close()
    rmSync(folder, { recursive: true, force: true })
  },
  "Google's signature of a call goes back on that call",
)

const startProvider = async (
  answer: (summary: boolean) => Reply,
): Promise<AsyncDisposable & { readonly url: string; readonly last: () => string }> => {
  const provider = await startScriptedProvider({
    respond: (request) => answer(request.lastText.includes("Write the checkpoint now")),
  })
  return {
    url: provider.url,
    last: () => JSON.stringify(provider.requests.at(-1)?.body),
    [Symbol.asyncDispose]: () => provider.close(),
  }
}
