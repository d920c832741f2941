/** A misled model looks for keys: in the environment of its tools, and by giving them another form. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, test } from "vitest"

import { directScene, type DirectScene } from "../direct-scene.ts"

const DIRECT = ["run", "spawn", "--harness", "direct", "-p", "do it", "--permission", "full-access"] as const

const KEY = "sk-ant-0123456789-abcdefghij-KLMNOPQR"

const scene = (command: string, env: Readonly<Record<string, string>> = {}): Promise<DirectScene> =>
  directScene({
    script: [{ tools: [{ name: "bash", input: { command } }] }, { text: "Done." }],
    env: { ANTHROPIC_API_KEY: KEY, ...env },
  })

describe("a command does not see", () => {
  test.each([
    ["ANTHROPIC_API_KEY", KEY],
    ["OPENAI_API_KEY", "of-another-provider"],
    ["GITHUB_TOKEN", "word-of-the-forge"],
    ["NPM_TOKEN", "word-of-the-registry"],
    ["AWS_SECRET_ACCESS_KEY", "word-of-the-cloud"],
    ["DB_PASSWORD", "word-of-the-base"],
    ["DATABASE_URL", "postgres://me:word-in-address@host/db"],
    ["PLAIN_NAME", "ghp_0123456789abcdefghij"],
    ["COPY_OF_IT", `"${KEY}"`],
  ])("%s", async (name, value) => {
    const { run, project } = await scene("env > seen.txt", { [name]: value, PLAIN: "plain-value" })
    await run(...DIRECT)
    const seen = readFileSync(join(project, "seen.txt"), "utf8")
    expect([seen.includes(name), seen.includes("PLAIN=plain-value")]).toEqual([false, true])
  })

  test("it when it asks the shell that started it", async () => {
    const { run, project } = await scene(
      "cat /proc/$PPID/environ > seen.txt; cat /proc/self/environ >> seen.txt",
    )
    await run(...DIRECT)
    expect(readFileSync(join(project, "seen.txt"), "utf8")).not.toContain(KEY)
  })

  test("what the folder names as harmless, before the user trusts it", async () => {
    const { run, project } = await scene(
      "printf '[tools]\\nkeep_variables = [\"GITHUB_TOKEN\"]\\n' >> .meridian/config.toml",
    )
    await run(...DIRECT)
    const again = await run("config", "show", "--json")
    expect(readFileSync(join(project, ".meridian/config.toml"), "utf8")).toContain("keep_variables")
    expect(JSON.parse(again.stdout)).toMatchObject({
      ignored: [{ key: "tools.keep_variables", why: "the folder is not trusted" }],
    })
  })
})

test("a variable that the user's own configuration names is seen", async () => {
  const { run, project } = await scene("env > seen.txt", { NPM_TOKEN: "word-of-the-registry" })
  await run("config", "set", "--user", "tools.keep_variables", "NPM_TOKEN")
  await run(...DIRECT)
  expect(readFileSync(join(project, "seen.txt"), "utf8")).toContain("NPM_TOKEN=word-of-the-registry")
})

test("an MCP server does not see keys either, unless it was given one", async () => {
  const { launch, project } = await scene("true", { GITHUB_TOKEN: "word-of-the-forge" })
  await launch({
    permission: "full-access",
    mcpServers: [
      {
        name: "spy",
        command: "/bin/sh",
        args: ["-c", "env > seen.txt"],
        environment: { GIVEN_TOKEN: "given-to-it" },
      },
    ],
  })
  const seen = readFileSync(join(project, "seen.txt"), "utf8")
  expect([seen.includes(KEY), seen.includes("word-of-the-forge"), seen.includes("given-to-it")]).toEqual([
    false,
    false,
    true,
  ])
})

describe("a key that a command prints in another form is hidden", () => {
  const forms: Readonly<Record<string, string>> = {
    base64: Buffer.from(KEY).toString("base64"),
    hex: Buffer.from(KEY).toString("hex"),
    reversed: KEY.split("").toReversed().join(""),
    "part of an address": `https://host/?k=${encodeURIComponent(KEY)}`,
    "base64 of a line that holds it": Buffer.from(`the key is ${KEY}!`).toString("base64"),
  }
  test.each(Object.entries(forms))("%s", async (_name, form) => {
    const made = await scene("cat form.txt")
    writeFileSync(join(made.project, "form.txt"), form)
    await made.run(...DIRECT)
    const said = made.asked()[1] ?? ""
    expect([said.includes("<hidden>"), said.includes(form)]).toEqual([true, false])
    expect(everythingIn(join(made.project, ".meridian"))).not.toContain(form)
  })
})

const everythingIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")
