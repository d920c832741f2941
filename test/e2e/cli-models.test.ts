/** `meridian models`: which models are usable, why the others are not, and how the catalogue is updated. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { join } from "node:path"

import { afterAll, describe, expect, test } from "vitest"

import { document, emptyFolder, meridian } from "./cli-binary.ts"

const KEY = "sk-live-0123456789abcdefghijklmnop"
const NOWHERE = { PATH: "/a/folder/that/is/not/there" }
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A project with this config.toml. */
const project = (config = ""): string => {
  const cwd = emptyFolder()
  folders.push(cwd)
  mkdirSync(join(cwd, ".meridian"))
  if (config !== "") writeFileSync(join(cwd, ".meridian/config.toml"), config)
  return cwd
}

/** The same, trusted by its user: a project's providers only count then. */
const trustedProject = async (config: string): Promise<string> => {
  const cwd = project(config)
  expect((await meridian(["trust"], { cwd })).code).toBe(0)
  return cwd
}

type Row = Readonly<Record<string, unknown>>

const list = async (
  cwd: string,
  env: Record<string, string> = {},
  ...flags: readonly string[]
): Promise<readonly Row[]> => {
  const ran = await meridian(["models", "list", "--json", ...flags], { cwd, env: { ...NOWHERE, ...env } })
  const found = document(ran)
  if (typeof found !== "object" || found === null || !("models" in found)) throw new Error(ran.stderr)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- compared field by field below
  return found.models as readonly Row[]
}

const row = (rows: readonly Row[], id: string): Row | undefined =>
  rows.find(({ model_id: model }) => model === id)

const serve = async (listener: RequestListener) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return {
    url: `http://127.0.0.1:${address.port}/api.json`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

describe("models list", () => {
  test("says for every harness model whether its binary exists", async () => {
    const cwd = project()
    const bin = join(cwd, "bin")
    mkdirSync(bin)
    writeFileSync(join(bin, "claude"), "#!/bin/sh\n")
    chmodSync(join(bin, "claude"), 0o755)
    const rows = await list(cwd, { PATH: bin, MERIDIAN_CODEX_COMMAND: "./tools/codex" })
    expect(row(rows, "claude-opus-4-6")).toMatchObject({ usable: true, harness: "claude" })
    expect(row(rows, "gpt-5.3-codex")).toMatchObject({
      usable: false,
      reason: "binary './tools/codex' is not there",
    })
    expect(row(rows, "gemini-3.1-pro")).toMatchObject({
      usable: false,
      reason: "binary 'opencode' not found on PATH",
    })
  })

  test("says what is missing for the engine's providers, and that only the echo is left", async () => {
    const rows = (await list(project())).filter(({ harness }) => harness === "direct")
    expect(rows.map(({ model_id: id, usable, reason }) => [id, usable, reason])).toEqual([
      ["direct/meridian/echo", true, undefined],
      ["direct/anthropic/*", false, "set ANTHROPIC_API_KEY"],
      ["direct/openai/*", false, "set OPENAI_API_KEY"],
      ["direct/google/*", false, "set GEMINI_API_KEY"],
      ["direct/openrouter/*", false, "set OPENROUTER_API_KEY"],
      ["direct/ollama/*", false, "no address: set OLLAMA_HOST or providers.ollama.base_url"],
      ["direct/lmstudio/*", false, "no address: set providers.lmstudio.base_url"],
      ["direct/vllm/*", false, "no address: set providers.vllm.base_url"],
    ])
    expect(rows[0]).toMatchObject({ default: true, role: expect.stringContaining("Only repeats") })
  })

  test("shows window and price of what a key makes usable, as text too, and the default among it", async () => {
    const cwd = project()
    const rows = await list(cwd, { ANTHROPIC_API_KEY: KEY })
    expect(row(rows, "direct/anthropic/claude-haiku-4-5")).toEqual({
      model_id: "direct/anthropic/claude-haiku-4-5",
      aliases: [],
      harness: "direct",
      usable: true,
      context_window: 200_000,
      max_output: 50_000,
      price: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 },
      limits: "catalogue",
    })
    expect(rows.filter((one) => one["default"] === true).map((one) => one["model_id"])).toEqual([
      "direct/anthropic/claude-sonnet-5-5",
    ])
    const env = { ...NOWHERE, ANTHROPIC_API_KEY: KEY, MERIDIAN_DIRECT_MODEL: "anthropic/claude-haiku-4-5" }
    const text = (await meridian(["models", "list"], { cwd, env })).stdout
    expect(text).toMatch(
      /^direct\/anthropic\/claude-haiku-4-5 +direct +200k window, 50k out, \$1 \/ \$5 +usable, default$/m,
    )
    expect(text).toMatch(/^direct\/google\/\* +direct +\d+ models +not usable: set GEMINI_API_KEY$/m)
    expect(text).not.toContain(KEY)
  })

  test("has a row for the chosen model, listed or not, usable or not", async () => {
    const cwd = project()
    const unlisted = await list(cwd, {
      ANTHROPIC_API_KEY: KEY,
      MERIDIAN_DIRECT_MODEL: "anthropic/claude-next",
    })
    expect(row(unlisted, "direct/anthropic/claude-next")).toMatchObject({
      usable: true,
      default: true,
      limits: "assumed",
    })
    const unusable = await list(cwd, { MERIDIAN_DIRECT_MODEL: "direct/google/gemini-2.5-pro" })
    expect(row(unusable, "direct/google/gemini-2.5-pro")).toMatchObject({
      usable: false,
      default: true,
      reason: "set GEMINI_API_KEY",
    })
  })

  test("shows a provider of hundreds as one row, and all its models on request", async () => {
    const cwd = project()
    const env = { OPENROUTER_API_KEY: KEY }
    const rows = await list(cwd, env)
    const summary = row(rows, "direct/openrouter/*")
    expect(summary).toMatchObject({ usable: true, count: expect.any(Number) })
    expect(rows.length).toBeLessThan(30)
    expect(await list(cwd, env, "--provider", "openrouter")).toHaveLength(Number(summary?.["count"]))
    const missing = await meridian(["models", "list", "--provider", "openruter"], { cwd })
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining("No provider 'openruter' is known, did you mean openrouter?"),
    ])
  })

  test("takes providers and models from config.toml, and rows of models.toml that name one", async () => {
    const cwd = project(`[providers.ollama]
base_url = "http://127.0.0.1:11434"
models = ["qwen3:8b"]
[models."ollama/big"]
context_window = 131072
input_price = 0.5
output_price = 2
`)
    writeFileSync(
      join(cwd, ".meridian/models.toml"),
      '[models.local]\nharness = "direct"\nharness_model = "ollama/big"\naliases = ["l"]\n',
    )
    const rows = await list(cwd)
    expect(row(rows, "direct/ollama/qwen3:8b")).toMatchObject({
      usable: true,
      default: true,
      context_window: 32_768,
      limits: "assumed",
    })
    expect(row(rows, "direct/ollama/big")).toMatchObject({
      context_window: 131_072,
      price: { input: 0.5, output: 2 },
      limits: "config",
    })
    expect(row(rows, "local")).toMatchObject({ harness: "direct", usable: true, context_window: 131_072 })
    const shown = await meridian(["models", "show", "l"], { cwd, env: NOWHERE })
    expect(shown.stdout).toBe(
      [
        "Model: local",
        "Harness: direct (as ollama/big)",
        "Aliases: l",
        "Limits: 131k window, 4k out",
        "Price: $0.5 in, $2 out per million tokens",
        "State: usable",
        "",
      ].join("\n"),
    )
  })

  test.each([
    ["direct/google/gemini-next", "not usable: set GEMINI_API_KEY"],
    ["direct/nobody/x", "not usable: no such provider: add [providers.nobody] to config.toml"],
    ["direct/ollama/x", "not usable: no address: set OLLAMA_HOST or providers.ollama.base_url"],
  ])("models show %s says why not", async (name, state) => {
    const { stdout } = await meridian(["models", "show", name], { cwd: project(), env: NOWHERE })
    expect(stdout).toContain(`State: ${state}\n`)
  })
})

describe("config.toml", () => {
  test("a wrong table stops every command, with file, line and key, and nothing of a key", async () => {
    const cwd = project(`[providers.mine]\nbase_url = "http://127.0.0.1:1"\napi_key = "${KEY}"\n`)
    for (const words of [
      ["models", "list"],
      ["config", "show"],
      ["serve", "--http"],
    ]) {
      const ran = await meridian(words, { cwd })
      expect([ran.stdout, ran.code, ran.stderr]).toEqual([
        "",
        1,
        `ERROR [CONFIG_INVALID]: ${cwd}/.meridian/config.toml:3: 'providers.mine.api_key' must be in no file of the project: name its variable with api_key_env, got <hidden>. Next: correct the value, or remove it to use the default.\n`,
      ])
    }
  })

  test("config show shows the tables with their place, and hides credentials of the reader's own file", async () => {
    const cwd = await trustedProject('[providers.mine]\nbase_url = "https://me:word@llm.example/v1"\n')
    const own = join(cwd, "own.toml")
    writeFileSync(own, `[providers.mine]\napi_key = "${KEY}"\n`)
    const text = await meridian(["config", "show", "--config", own], { cwd })
    expect(text.stdout).toContain(
      "providers.mine.base_url: https://<hidden>@llm.example/v1 [source: file]\nproviders.mine.api_key: <hidden> [source: user-config]\n",
    )
    const json = await meridian(["config", "show", "--config", own, "--json"], { cwd })
    expect(text.stdout + text.stderr + json.stdout + json.stderr).not.toMatch(new RegExp(`${KEY}|word@`))
  })

  test("keys of tables are set, read and removed like options, and the list follows", async () => {
    const cwd = project()
    rmSync(join(cwd, ".meridian"), { recursive: true })
    const path = join(cwd, ".meridian/config.toml")
    const config = (...words: readonly string[]) => meridian(["config", ...words], { cwd, env: NOWHERE })
    for (const [key, value] of [
      ["providers.ollama.base_url", "http://127.0.0.1:11434"],
      ["providers.ollama.models", "qwen3:8b, other"],
      ["models.ollama/gpt-5.2:x.context_window", "4096"],
      ['models."ollama/gpt-5.2:x".input_price', "0.5"],
    ] as const)
      expect((await config("set", key, value)).stderr).toBe("")
    const text = readFileSync(path, "utf8")
    expect(text).toContain(
      '\n[providers.ollama]\nmodels = ["qwen3:8b", "other"]\nbase_url = "http://127.0.0.1:11434"\n',
    )
    expect(text).toContain('\n[models."ollama/gpt-5.2:x"]\ninput_price = 0.5\ncontext_window = 4096\n')
    expect(text).toContain("# auto_resume = true")
    expect((await config("get", "providers.ollama.models")).stdout).toBe('["qwen3:8b","other"]\n')
    expect((await config("get", "providers.ollama.kind")).stdout).toBe("unset\n")
    const rows = await list(cwd)
    expect(row(rows, "direct/ollama/gpt-5.2:x")).toMatchObject({
      context_window: 4_096,
      price: { input: 0.5, output: 0 },
    })
    expect((await config("reset", "models.ollama/gpt-5.2:x.input_price")).stdout).toBe(
      `reset models.ollama/gpt-5.2:x.input_price (removed) in ${path}\n`,
    )
    expect(readFileSync(path, "utf8")).not.toContain("input_price = 0.5")
  })

  test.each([
    [
      "providers.a.base_url",
      "nowhere",
      `'providers.a.base_url' must be an http or https address, got "nowhere".`,
    ],
    [
      "providers.a.api_key",
      KEY,
      "'providers.a.api_key' must be in no file of the project: name its variable with api_key_env, got <hidden>.",
    ],
    [
      "providers.a.api_key_env",
      KEY,
      "'providers.a.api_key_env' must be the name of an environment variable, in capitals, got <hidden>.",
    ],
    ["providers.a.headers", "x", "'providers.a.headers' is a table."],
    ["models.nobody/x.max_output", "5", "'models.nobody/x' must be named provider/model"],
    [
      "models.ollama/x.max_output",
      "many",
      `'models.ollama/x.max_output' must be a whole number of tokens above 0, got "many".`,
    ],
    [
      "models.ollama/x.max_output",
      "",
      `'models.ollama/x.max_output' must be a whole number of tokens above 0, got "".`,
    ],
  ])("config set %s %s is refused, and no file is made", async (key, value, problem) => {
    const cwd = project()
    rmSync(join(cwd, ".meridian"), { recursive: true })
    const ran = await meridian(["config", "set", key, value], { cwd })
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      2,
      "",
      expect.stringContaining(`ERROR [USAGE]: ${problem}`),
    ])
    expect(ran.stderr).not.toContain(KEY)
    expect(existsSync(join(cwd, ".meridian"))).toBe(false)
  })

  test("an unknown key of a table is reported with the nearest", async () => {
    const ran = await meridian(["config", "set", "providers.a.base_ur", "x"], { cwd: project() })
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining("did you mean 'providers.a.base_url'?"),
    ])
  })

  test("the guide's example says what the guide says", async () => {
    const example = /```toml\n(.*?)```/s.exec(readFileSync("docs/guide/models.md", "utf8"))?.[1] ?? ""
    const cwd = project()
    mkdirSync(join(cwd, ".config/meridian"), { recursive: true })
    writeFileSync(join(cwd, ".config/meridian/config.toml"), example)
    const ran = await meridian(["models", "list", "--json"], { cwd, env: { ...NOWHERE, LAB_KEY: KEY } })
    expect(ran.stderr).toBe("")
    const rows = await list(cwd, { LAB_KEY: KEY })
    expect(row(rows, "direct/ollama/qwen3:8b")).toMatchObject({ usable: true, default: true })
    expect(row(rows, "direct/lab/coder-large")).toMatchObject({
      usable: true,
      context_window: 131_072,
      max_output: 16_384,
      price: { input: 0.3, output: 1.2 },
      limits: "config",
    })
  })

  test("init's file sets nothing and shows how", async () => {
    const cwd = project()
    rmSync(join(cwd, ".meridian"), { recursive: true })
    await meridian(["init"], { cwd })
    const text = readFileSync(join(cwd, ".meridian/config.toml"), "utf8")
    expect(text).toContain('# base_url = "http://127.0.0.1:8000/v1"')
    expect((await meridian(["config", "show"], { cwd })).stderr).toBe("")
  })

  test("an unusable chosen model is reported before anything starts", async () => {
    const cwd = project('[direct]\nmodel = "google/gemini-2.5-pro"\n')
    const ran = await meridian(["serve", "--http"], { cwd })
    expect([ran.code, ran.stderr]).toEqual([
      1,
      "ERROR [MODEL_NOT_USABLE]: Model 'google/gemini-2.5-pro' cannot be used: set GEMINI_API_KEY. Next: run 'meridian models list' to see what is usable now.\n",
    ])
  })
})

test("known facts about a model are shown even without its key", async () => {
  const ran = await meridian(["models", "show", "direct/openai/gpt-5", "--json"], {
    cwd: project(""),
    env: NOWHERE,
  })
  expect(document(ran)).toMatchObject({
    usable: false,
    limits: "catalogue",
    context_window: 400_000,
    price: { input: 1.25 },
  })
})

describe("models list --probe", () => {
  test("asks compatible servers for their models, with their key, and names those that do not answer", async () => {
    const asked: (readonly [string | undefined, string | undefined])[] = []
    await using server = await serve((request, response) => {
      asked.push([request.url, request.headers.authorization])
      response.end(JSON.stringify({ data: [{ id: "org/found" }, { id: "with space" }, {}, 7] }))
    })
    await using odd = await serve((_request, response) => response.end("<html>"))
    const { url: gone, [Symbol.asyncDispose]: leave } = await serve(() => {})
    await leave()
    const base = (url: string): string => url.replace("/api.json", "/v1")
    const cwd = await trustedProject(`[providers.lab]
base_url = "${base(server.url)}"
api_key_env = "LAB_KEY"
models = ["named"]
[providers.gone]
base_url = "${base(gone)}"
models = ["m"]
[providers.odd]
base_url = "${base(odd.url)}"
models = ["m"]
`)
    const env = { LAB_KEY: KEY }
    await list(cwd, env)
    expect(asked).toEqual([])
    const rows = await list(cwd, env, "--probe")
    expect(asked).toEqual([["/v1/models", `Bearer ${KEY}`]])
    expect(row(rows, "direct/lab/named")).toMatchObject({ usable: true })
    expect(row(rows, "direct/lab/org/found")).toMatchObject({ usable: true, limits: "assumed" })
    expect(row(rows, "direct/lab/with space")).toBeUndefined()
    expect(row(rows, "direct/gone/m")).toMatchObject({ usable: false, reason: `no answer at ${base(gone)}` })
    expect(row(rows, "direct/odd/m")).toMatchObject({
      usable: false,
      reason: `${base(odd.url)} did not answer with a list of models`,
    })
    expect(JSON.stringify(rows)).not.toContain(KEY)
  })

  test("the default is what runs take, whatever the servers answer", async () => {
    await using server = await serve((_request, response) =>
      response.end(JSON.stringify({ data: [{ id: "found" }] })),
    )
    const { url: gone, [Symbol.asyncDispose]: leave } = await serve(() => {})
    await leave()
    const defaults = async (cwd: string, env: Readonly<Record<string, string>>, ...flags: string[]) =>
      (await list(cwd, env, ...flags))
        .filter((each) => each["default"] === true)
        .map(({ model_id }) => model_id)
    const alive = { OLLAMA_HOST: new URL(server.url).origin, ANTHROPIC_API_KEY: KEY }
    const plain = await defaults(project(""), alive)
    expect(plain).toHaveLength(1)
    expect(await defaults(project(""), alive, "--probe")).toEqual(plain)

    const silent = await trustedProject(
      `[providers.gone]\nbase_url = "${gone.replace("/api.json", "/v1")}"\nmodels = ["m"]\n`,
    )
    expect(await defaults(silent, {})).toEqual(["direct/gone/m"])
    expect(await defaults(silent, {}, "--probe")).toEqual(["direct/gone/m"])
  })
})

describe("models update", () => {
  const API = {
    anthropic: {
      models: {
        "claude-next": { limit: { context: 500_000, output: 1_000 }, cost: { input: 7, output: 8 } },
      },
    },
  }

  const copyOf = (cwd: string): string => join(cwd, ".local/share/meridian/models.txt")

  test("keeps a copy for this user, which counts from then on", async () => {
    await using server = await serve((_request, response) => response.end(JSON.stringify(API)))
    const cwd = project()
    const ran = await meridian(["models", "update", "--from", server.url, "--json"], { cwd })
    expect(document(ran)).toEqual({
      path: copyOf(cwd),
      from: server.url,
      models: 1,
      added: 1,
      removed: expect.any(Number),
      changed: 0,
    })
    expect(readdirSync(join(cwd, ".local/share/meridian"))).toEqual(["models.txt"])
    const rows = await list(cwd, { ANTHROPIC_API_KEY: KEY })
    expect(row(rows, "direct/anthropic/claude-next")).toMatchObject({
      context_window: 500_000,
      price: { input: 7, output: 8 },
      limits: "catalogue",
    })
    // Models only the snapshot knows stay.
    expect(row(rows, "direct/anthropic/claude-haiku-4-5")).toMatchObject({ usable: true })
    const again = await meridian(["models", "update"], { cwd, env: { MERIDIAN_MODELS_URL: server.url } })
    expect(again.stdout).toMatch(
      /^1 model from http:\/\/127.0.0.1:\d+\/api.json: 0 new, 0 changed, 0 gone. Kept in /,
    )
  })

  test("reads a file in the same form", async () => {
    const cwd = project()
    writeFileSync(join(cwd, "api.json"), JSON.stringify(API))
    expect((await meridian(["models", "update", "--from", "api.json"], { cwd })).code).toBe(0)
    expect(existsSync(copyOf(cwd))).toBe(true)
  })

  test("changes nothing and says why when it fails", async () => {
    await using broken = await serve((request, response) => {
      if (request.url === "/large") {
        response.write("[")
        const more = (): void => {
          while (response.write(" ".repeat(1_048_576)));
          response.once("drain", more)
        }
        return more()
      }
      if (request.url === "/html") return response.end("<html>not here</html>")
      return response.writeHead(503).end()
    })
    const cwd = project()
    mkdirSync(join(cwd, ".local/share/meridian"), { recursive: true })
    writeFileSync(copyOf(cwd), "# models 2026-11-15 before\nanthropic/kept 1000 100\n")
    const base = broken.url.replace("/api.json", "")
    const { url: gone, [Symbol.asyncDispose]: leave } = await serve(() => {})
    await leave()
    for (const [from, problem] of [
      [gone, "it cannot be reached (ECONNREFUSED)"],
      [`${base}/503`, "it answered 503"],
      [`${base}/html`, "it is not a list of models in the form of models.dev"],
      [`${base}/large`, "it is larger than 32 MiB"],
      ["http://models.example/api.json", "http is only for this machine, use https"],
      ["none.json", "the file cannot be read"],
    ] as const) {
      const ran = await meridian(["models", "update", "--from", from], { cwd })
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([
        1,
        "",
        expect.stringContaining(
          `ERROR [MODELS_NOT_UPDATED]: The catalogue of models was not updated from ${from}: ${problem}. Next: `,
        ),
      ])
    }
    const secret = await meridian(["models", "update", "--from", `http://me:word@127.0.0.1:1/x?key=${KEY}`], {
      cwd,
    })
    expect(secret.stderr).toContain("from http://<hidden>@127.0.0.1:1/x: a name and password before the host")
    expect(secret.stderr).not.toMatch(new RegExp(`${KEY}|word@`))
    expect(readFileSync(copyOf(cwd), "utf8")).toContain("anthropic/kept")
    expect(readdirSync(join(cwd, ".local/share/meridian"))).toEqual(["models.txt"])
  })

  test("a damaged copy is ignored", async () => {
    const cwd = project()
    mkdirSync(join(cwd, ".local/share/meridian"), { recursive: true })
    writeFileSync(copyOf(cwd), "\0\0\0")
    const rows = await list(cwd, { ANTHROPIC_API_KEY: KEY })
    expect(row(rows, "direct/anthropic/claude-haiku-4-5")).toMatchObject({ usable: true })
  })
})
