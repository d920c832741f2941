/**
 * Keys never reach logs, events or error texts. Whole sessions run against a provider that repeats the key wherever it can,
 * and then everything written or said is searched.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { ScriptStep } from "@meridian/engine/script"
import { createClient } from "@meridian/server/client"
import { startScriptedProvider } from "@meridian/testkit"
import { describe, expect, test } from "vitest"

import { openSse } from "../read-sse.ts"
import { emptyFolder, meridian } from "./cli-binary.ts"
import { startServer } from "./server-process.ts"

const KEY = "sk-live-4f9c1d7e2b8a6053-XyZ"

const WIRES = [
  {
    name: "anthropic",
    model: "anthropic/claude-sonnet-4-6",
    path: "/v1",
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  },
  { name: "openai", model: "openai/gpt-5.2", path: "/v1", variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL"] },
  {
    name: "google",
    model: "google/gemini-2.5-pro",
    path: "/v1beta",
    variables: ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  },
  { name: "compatible", model: "mine/m", path: "/v1", variables: ["MINE_API_KEY", "UNUSED"] },
] as const

const ECHOES = { "www-authenticate": `Bearer ${KEY}`, "x-echo": KEY, "set-cookie": `key=${KEY}` }

/** What the provider does in the n-th run. */
const RUNS: Readonly<Record<string, readonly ScriptStep[]>> = {
  "repeats it in its answer, and a command prints it": [
    {
      reasoning: { text: `thinking of ${KEY}`, signature: `sig-${KEY}` },
      text: `first ${KEY}`,
      chunks: 9,
      tools: [
        { name: "bash", input: { command: "env; echo to-stderr >&2" } },
        // More than a preview holds, so the whole output is kept in a file.
        { name: "bash", input: { command: "env; seq 30000; env" } },
        { name: "bash", input: { command: `echo ${KEY}; exit 3` } },
      ],
    },
    { text: `Your key is ${KEY}, is it not?`, chunks: 11 },
  ],
  "refuses it with its own words": [
    {
      error: {
        status: 401,
        type: "authentication_error",
        message: `no such key: ${KEY} (?key=${KEY})`,
        headers: ECHOES,
      },
    },
  ],
  "sends it elsewhere": [
    {
      error: {
        status: 302,
        message: `moved for ${KEY}`,
        headers: { ...ECHOES, location: `http://127.0.0.1:9/?key=${KEY}` },
      },
    },
  ],
  "fails with a page of its own": [
    { error: { status: 400, body: `<html>key=${KEY} at /v1?key=${KEY}</html>` } },
  ],
  "breaks off with it": [
    {
      parts: [
        { type: "text", text: "so far" },
        { type: "error", error: { status: 400, type: "invalid_request_error", message: `bad ${KEY}` } },
      ],
    },
  ],
}

/** Every file below the folder, databases included, as bytes. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const filesWithKey = (folder: string): readonly string[] =>
  filesBelow(folder).filter((file) => readFileSync(file).includes(KEY))

describe.each(WIRES)("a provider of kind $name", ({ model, path, variables: [key, address] }) => {
  test("that repeats the key leaves it nowhere: not in runs, the database, output or HTTP answers", async () => {
    const cwd = emptyFolder()
    const overHttp: readonly ScriptStep[] = [
      { text: `It is ${KEY}.` },
      ...(RUNS["refuses it with its own words"] ?? []),
    ]
    const provider = await startScriptedProvider({ script: [...Object.values(RUNS).flat(), ...overHttp] })
    mkdirSync(join(cwd, ".config/meridian"), { recursive: true })
    writeFileSync(
      join(cwd, ".config/meridian/config.toml"),
      `[providers.mine]\nbase_url = "${provider.url}/v1"\napi_key_env = "MINE_API_KEY"\nmodels = ["m"]\n`,
    )
    const env = { [key]: KEY, [address]: `${provider.url}${path}`, MERIDIAN_MAX_RETRIES: "0" }
    const said: string[] = []
    for (const name of Object.keys(RUNS)) {
      const ran = await meridian(
        ["run", "spawn", "-m", `direct/${model}`, "--permission", "full-access", "-p", `When it ${name}`],
        { cwd, env },
      )
      said.push(ran.stdout, ran.stderr)
    }
    expect(said[0]).toContain("Your key is <hidden>, is it not?")

    const server = await startServer(cwd, [], { ...env, MERIDIAN_DIRECT_MODEL: model })
    const client = createClient({ url: server.url, token: server.token })
    const { id: sessionID } = await client.sessions.create({ location: { directory: cwd } })
    for (const text of ["answered", "refused"]) {
      await client.sessions.prompt({ sessionID, prompt: { text } })
      // A client that waits while the work fails gets the error; one that comes later does not.
      await client.sessions.wait({ sessionID }).catch((failure: unknown) => said.push(String(failure)))
    }
    const answers = await Promise.all(
      (await client.sessions.list({})).items.flatMap(({ id }) =>
        ["", "/message", "/receipt", "/input"].map(async (part) => {
          const headers = { authorization: `Bearer ${server.token}` }
          return (await fetch(`${server.url}/api/session/${id}${part}`, { headers })).text()
        }),
      ),
    )
    expect(answers.length).toBe(4 * (Object.keys(RUNS).length + 1))
    await using reader = await openSse(`${server.url}/api/session/${sessionID}/event?after=0`, {
      authorization: `Bearer ${server.token}`,
    })
    const heard = JSON.stringify(await reader.until(({ data }) => data?.includes("authentication") === true))
    await server.end("SIGTERM")
    const everything = [...said, ...answers, heard, server.output()].join("\n")
    expect(everything).toContain("<hidden>")
    expect(everything).not.toContain(KEY)
    expect(everything).not.toContain(encodeURIComponent(KEY))
    expect(filesBelow(cwd).length).toBeGreaterThan(20)
    expect(filesWithKey(cwd)).toEqual([])
    await provider.close()
    rmSync(cwd, { recursive: true, force: true })
  })
})

test("a model that says the key of another provider leaves it nowhere either", async () => {
  const cwd = emptyFolder()
  const provider = await startScriptedProvider({
    script: [
      { text: `The other key is ${KEY}.`, chunks: 7 },
      { error: { status: 400, type: "invalid_request_error", message: `not ${KEY}` } },
    ],
  })
  mkdirSync(join(cwd, ".config/meridian"), { recursive: true })
  writeFileSync(
    join(cwd, ".config/meridian/config.toml"),
    `[providers.lab]\nbase_url = "${provider.url}/v1"\napi_key_env = "LAB_KEY"\nmodels = ["m"]\n`,
  )
  const env = { LAB_KEY: "lab-0123456789abcdef", ANTHROPIC_API_KEY: KEY, MERIDIAN_MAX_RETRIES: "0" }
  const said: string[] = []
  for (const prompt of ["Tell", "Fail"]) {
    const ran = await meridian(["run", "spawn", "-m", "direct/lab/m", "-p", prompt], { cwd, env })
    said.push(ran.stdout, ran.stderr)
  }
  expect(said[0]).toContain("The other key is <hidden>.")
  expect(said.join("\n")).not.toContain(KEY)
  expect(filesWithKey(cwd)).toEqual([])
  await provider.close()
  rmSync(cwd, { recursive: true, force: true })
})
