/** The guides to agents and extensions are programs: their blocks run in order, unchanged. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"

import type { ScriptStep } from "@meridian/engine/script"
import { startScriptedProvider, type ScriptedProvider } from "@meridian/testkit"
import { parse } from "smol-toml"
import { expect, test } from "vitest"

const ENGINE = pathToFileURL("packages/engine/src/index.ts").href

const blocksOf = (guide: string, language: string): readonly string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block = ""]) => block,
  )

interface Told {
  readonly provider: ScriptedProvider
  readonly said: Readonly<Record<string, unknown>>
  readonly guide: string
}

/** Runs `before`, the blocks and `after`. What it prints is JSON. */
const runGuide = async (
  name: string,
  {
    before,
    between,
    after,
    script,
  }: {
    readonly before: string
    /** Runs after the first block, the second and so on. */
    readonly between: readonly string[]
    readonly after: string
    readonly script: readonly ScriptStep[]
  },
  look: (told: Told) => void,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-guide-"))
  const provider = await startScriptedProvider({ script })
  try {
    const guide = readFileSync(`docs/guide/${name}.md`, "utf8")
    const model = `{ id: "local/qwen", provider: "openai-compatible", baseURL: "${provider.url}/v1", apiKey: "any",
      model: "qwen3-coder", contextWindow: 200_000, maxOutput: 8_000, variants: { deep: { effort: "high" } } }`
    const program = [
      `import { openEngine } from ${JSON.stringify(ENGINE)}`,
      `const folder = ${JSON.stringify(folder)}`,
      `const options = { database: ":memory:", models: [${model}], permissions: [{ action: "*", resource: "*", effect: "allow" }] } as const`,
      `const turns: string[] = []`,
      before,
      ...blocksOf(guide, "ts").flatMap((block, at) => [block, between[at] ?? ""]),
      after,
    ].join("\n")
    const file = join(folder, "guide.ts")
    writeFileSync(file, program)
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=meridian-source", file])
    look({ provider, said: { ...JSON.parse(stdout) }, guide })
  } finally {
    await provider.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

test("the guide for agents does what it says", async () => {
  await runGuide(
    "agents",
    {
      before: `const sessionID = "ses_guide"`,
      between: ["await engine.sessions.create({ id: sessionID, location: { directory: folder } })"],
      after: `process.stdout.write(JSON.stringify({ output }))
await engine.close()`,
      script: [{ tools: [{ name: "structured_output", input: { files: ["a.ts"] } }] }],
    },
    ({ provider, said, guide }) => {
      expect(said).toEqual({ output: { files: ["a.ts"] } })
      const body = JSON.stringify(provider.requests.at(-1)?.body)
      expect(body).toContain("You review changes.")
      expect(body).toContain("Look in src only.")
      expect([body.includes('"name":"grep"'), body.includes('"name":"read"')]).toEqual([true, false])
      for (const block of blocksOf(guide, "toml")) expect(() => parse(block)).not.toThrow()
    },
  )
})

test("the guide for extensions does what it says", async () => {
  await runGuide(
    "extensions",
    {
      before: `const engine = await openEngine(options)
const { id: sessionID } = await engine.sessions.create({ location: { directory: folder } })
const ask = async (text: string) => {
  await engine.sessions.prompt({ sessionID, prompt: { text } })
  await engine.sessions.wait(sessionID)
}`,
      between: ['await ask("which number?")', 'await ask("and now?")'],
      after: `process.stdout.write(JSON.stringify({ turns, left }))
await engine.close()`,
      script: [
        {
          tools: [
            { name: "house_number", input: {} },
            { name: "bash", input: { command: "true" } },
          ],
        },
        { text: "Seven." },
        { text: "And on." },
      ],
    },
    ({ provider, said }) => {
      expect(said).toEqual({ turns: ["", "Seven."], left: [] })
      const [, second, third] = provider.requests.map(({ body }) => JSON.stringify(body))
      expect(second).toContain("Be brief.")
      expect(second).toContain("Outside: rain.")
      expect(second).toContain("Not in this house.")
      expect(third).not.toContain("Be brief.")
    },
  )
})
