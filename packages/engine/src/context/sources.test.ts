/** The built-in context sources in a real engine on a real folder. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { EMPTY_LEDGER } from "@meridian/continuity/ledger"
import { Effect } from "effect"
import { expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import type { EngineOptions } from "../api.ts"
import type { Reply, ScriptRequest } from "../model/script.ts"
import { openEngineWith } from "../open-engine.ts"
import { createContextRegistry } from "./registry.ts"
import { createUrlReader } from "./url-reader.ts"

interface Scene extends AsyncDisposable {
  readonly directory: string
  readonly reads: string[]
  /** Sends a prompt and returns what the model saw. */
  readonly ask: (text?: string) => Promise<string>
  readonly write: (path: string, text: string) => void
}

const openScene = async (
  options: Partial<EngineOptions> = {},
  answer: (request: ScriptRequest, n: number) => Reply = () => ({ text: "ok" }),
): Promise<Scene> => {
  const outer = mkdtempSync(join(tmpdir(), "meridian-context-"))
  const directory = join(outer, "project")
  mkdirSync(join(directory, ".git"), { recursive: true })
  const requests: ScriptRequest[] = []
  const reads: string[] = []
  const script = (request: ScriptRequest): Reply => {
    requests.push(request)
    return answer(request, requests.length)
  }
  const engine = await openEngineWith(
    {
      database: ":memory:",
      models: [{ id: "a/one", provider: "scripted", contextWindow: 100_000, maxOutput: 100, script }],
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
      ...options,
    },
    { onRead: (path) => reads.push(path) },
  )
  const { id } = await engine.sessions.create({ location: { directory } })
  return {
    directory,
    reads,
    write: (path, text) => {
      mkdirSync(join(directory, path, ".."), { recursive: true })
      writeFileSync(join(directory, path), text)
    },
    ask: async (text = "go") => {
      await engine.sessions.prompt({ sessionID: id, prompt: { text } })
      await engine.sessions.wait(id)
      return JSON.stringify(requests.at(-1)?.body)
    },
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      rmSync(outer, { recursive: true, force: true })
    },
  }
}

verifies(
  "parity.project-instructions",
  async () => {
    await using scene = await openScene()
    scene.write("CLAUDE.md", "from claude")
    scene.write("CONTEXT.md", "from context")
    const before = await scene.ask()
    expect([before.includes("from claude"), before.includes("from context")]).toEqual([true, true])
    scene.write("AGENTS.md", "from agents")
    const after = await scene.ask()
    expect(after.lastIndexOf("from agents")).toBeGreaterThan(after.lastIndexOf("from claude"))
  },
  "AGENTS.md counts; CLAUDE.md and CONTEXT.md where no AGENTS.md stands beside them",
)

verifies(
  "epoch.contained",
  async () => {
    await using scene = await openScene()
    writeFileSync(join(scene.directory, "..", "secret.md"), "the secret")
    symlinkSync(join(scene.directory, "..", "secret.md"), join(scene.directory, "AGENTS.md"))
    expect(await scene.ask()).not.toContain("the secret")
  },
  "an instruction file that is a link out of the project is not read",
)

test("unchanged files cost no read, a changed one costs one", async () => {
  await using scene = await openScene()
  scene.write("AGENTS.md", "first")
  await scene.ask()
  await scene.ask()
  await scene.ask()
  expect(scene.reads.map((path) => path.slice(scene.directory.length))).toEqual(["/AGENTS.md"])
  scene.write("AGENTS.md", "a longer second")
  await scene.ask()
  await scene.ask()
  expect(scene.reads).toHaveLength(2)
})

verifies(
  "parity.nested-instructions",
  async () => {
    await using scene = await openScene({}, (_request, n) =>
      n === 1 ? { tools: [{ name: "read", input: { path: "packages/api/server.ts" } }] } : { text: "ok" },
    )
    scene.write("packages/api/server.ts", "export {}")
    scene.write("packages/api/AGENTS.md", "the api uses tabs")
    scene.write("packages/other/AGENTS.md", "never told")
    const seen = await scene.ask()
    expect(seen).toContain("the api uses tabs")
    expect(seen).not.toContain("never told")
    expect(await scene.ask()).toContain("the api uses tabs")
  },
  "instructions beside a file that was read are told at the next boundary and stay after it",
)

verifies(
  "parity.configured-instructions",
  async () => {
    await using scene = await openScene({
      instructions: ["docs/style.md", "docs/rules/*.md", "docs/missing.md"],
    })
    scene.write("docs/style.md", "style one")
    scene.write("docs/rules/b.md", "rule b")
    scene.write("docs/rules/a.md", "rule a")
    const first = await scene.ask()
    expect(first.indexOf("style one")).toBeLessThan(first.indexOf("rule a"))
    expect(first.indexOf("rule a")).toBeLessThan(first.indexOf("rule b"))
    rmSync(join(scene.directory, "docs/rules/b.md"))
    expect(await scene.ask()).toContain("Some instructions of docs/rules/*.md were removed.")
    rmSync(join(scene.directory, "docs/style.md"))
    expect(await scene.ask()).toContain("The instructions of docs/style.md given before were removed")
  },
  "configured files and globs are told in order, and their removal is said",
)

const startServer = async (answer: () => { readonly status: number; readonly body: string }) => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    const { status, body } = answer()
    response.writeHead(status)
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/rules.md`,
    asked: () => asked,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

verifies(
  "parity.configured-instructions",
  async () => {
    await using server = await startServer(() => ({ status: 200, body: "from the web" }))
    await using allowed = await openScene({ instructions: [server.url], allowPrivateAddresses: true })
    expect(await allowed.ask()).toContain("from the web")
    await allowed.ask()
    expect(server.asked()).toBe(1)
    await using refused = await openScene({ instructions: [server.url] })
    await expect(refused.ask()).rejects.toMatchObject({ code: "CONTEXT_UNAVAILABLE" })
    expect(server.asked()).toBe(1)
  },
  "an address in a private network is refused, and read when that is configured",
)

test("only http and https are read, a missing page is absent, a large or failing one unavailable", async () => {
  let answer = { status: 404, body: "" }
  await using server = await startServer(() => answer)
  const read = (url: string) => createUrlReader({ allowPrivate: true, monotonic: () => 0 }).read(url)
  expect(await read(server.url)).toEqual({ kind: "absent" })
  answer = { status: 500, body: "" }
  expect(await read(server.url)).toEqual({ kind: "unavailable" })
  answer = { status: 200, body: "x".repeat(300 * 1024) }
  expect(await read(server.url)).toEqual({ kind: "unavailable" })
  expect(await read("file:///etc/passwd")).toEqual({ kind: "unavailable" })
  expect(await read("ftp://127.0.0.1/x")).toEqual({ kind: "unavailable" })
})

test.each([
  "127.0.0.1",
  "[::1]",
  "10.1.2.3",
  "192.168.0.1",
  "169.254.169.254",
  "[fd00::1]",
  "0.0.0.0",
  "[::ffff:127.0.0.1]",
])("%s is private", async (host) => {
  const reader = createUrlReader({ allowPrivate: false, monotonic: () => 0 })
  expect(await reader.read(`http://${host}:9/`)).toEqual({ kind: "unavailable" })
})

verifies(
  "parity.skills",
  async () => {
    await using scene = await openScene(
      {
        permissions: [
          { action: "*", resource: "*", effect: "allow" },
          { action: "skill", resource: "secret", effect: "deny" },
        ],
      },
      (_request, n) =>
        n === 1 ? { tools: [{ name: "skill", input: { name: "release" } }] } : { text: "ok" },
    )
    scene.write(
      ".meridian/skills/release/SKILL.md",
      "---\nname: release\ndescription: how to release\n---\nTag it, then push.",
    )
    scene.write(".claude/skills/secret/SKILL.md", "---\nname: secret\ndescription: hidden\n---\nshh")
    const seen = await scene.ask()
    expect(seen).toContain("- release: how to release")
    expect(seen).not.toContain("hidden")
    expect(seen).toContain("Tag it, then push.")
  },
  "skills are told by name, denied ones are not, and the body comes through the tool",
)

test("conditional rules of the project come when they match", async () => {
  await using scene = await openScene({}, (_request, n) =>
    n === 1 ? { tools: [{ name: "read", input: { path: "src/a.sql" } }] } : { text: "ok" },
  )
  scene.write("src/a.sql", "select 1")
  scene.write(".meridian/rules/sql.md", '---\nglobs: ["**/*.sql"]\n---\nUppercase keywords.')
  scene.write(".meridian/rules/css.md", '---\nglobs: ["**/*.css"]\n---\nNever told.')
  const seen = await scene.ask()
  expect(seen).toContain("Uppercase keywords.")
  expect(seen).not.toContain("Never told.")
})

test("closing a contribution removes its source; until then a newer one with the same key wins", async () => {
  const registry = createContextRegistry()
  const source = (text: string) => ({
    key: "test/one",
    observe: () => Promise.resolve({ kind: "value", value: text } as const),
    baseline: () => text,
    update: () => text,
    removal: () => "gone",
  })
  const scene = {
    model: "m",
    agent: "a",
    rules: [],
    discovered: [],
    workingSet: () => [],
    prompt: "",
    tools: [],
    ledger: () => EMPTY_LEDGER,
    sessionID: "ses_1",
    contextWindow: 200_000,
    atCompaction: false,
  }
  const observed = async () =>
    (await Effect.runPromise(registry.observe(scene))).map(({ observed: seen }) => seen)
  registry.contribute(1, [source("old")])
  const newer = registry.contribute(1, [source("new")])
  expect(await observed()).toEqual([{ kind: "value", value: "new" }])
  newer.close()
  expect(await observed()).toEqual([{ kind: "value", value: "old" }])
})
