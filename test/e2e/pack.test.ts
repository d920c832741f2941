/** The packages, installed as users install them. */
import { spawnSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { delimiter, dirname, join, relative, resolve } from "node:path"

import { describe, expect, test } from "vitest"

import { verifies } from "../verifies.ts"
import { emptyFolder, SEARCH_PATH } from "./cli-binary.ts"
import { installAlone, npm, packAll, run, type Command } from "./npm-install.ts"

const VERSION = /"version": "([^"]+)"/.exec(readFileSync("packages/cli/package.json", "utf8"))?.[1] ?? ""

describe.each(["npm run pack", "npm pack"] as const)("%s", (how) => {
  const tarballs = packAll(how)
  const tarball = (name: string): string => tarballs.get(name) ?? ""

  test("each tarball has licence, readme and nothing of the workspace", () => {
    expect([...tarballs.keys()].sort()).toEqual(["cli", "engine", "opencode-plugin"])
    for (const [name, file] of tarballs) {
      const { cwd } = installAlone(file)
      const folder = join(cwd, "node_modules/@meridian", name)
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      expect(manifest).not.toHaveProperty("dependencies")
      expect(readdirSync(join(cwd, "node_modules/@meridian"))).toEqual([name])
      expect(readdirSync(folder).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"])
      expect(readFileSync(join(folder, "LICENSE"), "utf8")).toBe(readFileSync("LICENSE", "utf8"))
      expect(existsSync(join(folder, "dist/THIRD-PARTY-NOTICES.txt"))).toBe(true)
      const source = globSync("**/*.ts", { cwd: join(folder, "dist") }).filter(
        (path) => !path.endsWith(".d.ts"),
      )
      expect(source).toEqual([])
    }
  })

  verifies(
    "install.command",
    () => {
      const installed = installAlone(tarball("cli"))
      const local = run(
        installed,
        join(installed.cwd, "node_modules/.bin/meridian"),
        "models",
        "list",
        "--json",
      )
      expect([local.status, local.stderr]).toEqual([0, ""])
      expect(JSON.parse(local.stdout)).toHaveProperty("models")

      const everywhere = { cwd: emptyFolder(), home: emptyFolder() }
      const prefix = emptyFolder("meridian global ")
      npm(everywhere, "install", "-g", "--prefix", prefix, tarball("cli"))
      const PATH = `${join(prefix, "bin")}${delimiter}${SEARCH_PATH}`
      const started = run({ ...everywhere, env: { PATH } }, "sh", "-c", "command -v meridian")
      expect(started.stdout).toBe(`${join(prefix, "bin/meridian")}\n`)
      expect(run(everywhere, join(prefix, "bin/meridian"), "--version").stdout).toBe(`${VERSION}\n`)
      expect(run(everywhere, join(prefix, "bin/meridian"), "init", "--opencode").status).toBe(0)

      const once = { cwd: emptyFolder(), home: emptyFolder() }
      // npx takes an absolute path as a program to start.
      const near = `./${relative(once.cwd, tarball("cli"))}`
      expect(run(once, "npx", "--yes", near, "--version").stdout).toBe(`${VERSION}\n`)
      expect(run(once, "npx", "--yes", "--package", tarball("cli"), "meridian", "--version").stdout).toBe(
        `${VERSION}\n`,
      )
    },
    how,
  )

  verifies(
    "install.engine",
    () => {
      const installed = installAlone(tarball("engine"))
      expect(compile(installed, program(installed.cwd))).toBe("")
      writeFileSync(join(installed.cwd, "program.mjs"), program(installed.cwd))
      const ran = run(installed, process.execPath, "program.mjs")
      expect([ran.stderr, ran.stdout]).toEqual(["", "It is sunny.\n"])
      expect(compile(installed, program(installed.cwd).replace('"allow"', '"perhaps"'))).toContain("TS2322")
    },
    how,
  )

  test("programs written with Effect bring it along and get their types", () => {
    const installed = installAlone(tarball("engine"))
    symlinkSync(resolve("node_modules/effect"), join(installed.cwd, "node_modules/effect"))
    const text = `import { Effect } from "effect"
import { Sessions } from "@meridian/engine/effect"
export const one = Effect.gen(function* () { const sessions = yield* Sessions; return yield* sessions.get("ses_a") })
`
    // Effect's own declarations are not checked here.
    expect(compile(installed, text, { skipLibCheck: true })).toBe("")
    writeFileSync(join(installed.cwd, "program.mjs"), text)
    expect(run(installed, process.execPath, "program.mjs")).toEqual({ status: 0, stdout: "", stderr: "" })
  })

  verifies(
    "install.plugin",
    () => {
      const installed = installAlone(tarball("opencode-plugin"))
      const text = `import plugin from "@meridian/opencode-plugin"
const hooks = await plugin.server({ client: {}, directory: process.cwd(), worktree: process.cwd(), project: { id: "p" } }, {})
process.stdout.write(Object.keys(hooks).sort().join(" "))
`
      writeFileSync(join(installed.cwd, "program.mjs"), text)
      const ran = run(installed, process.execPath, "program.mjs")
      expect(ran.stderr).toBe("")
      expect(ran.stdout.split(" ")).toContain("experimental.session.compacting")
    },
    how,
  )

  test("the refusal of an old Node reaches whoever runs the command or imports the engine", () => {
    const refusal =
      /^ERROR \[NODE_TOO_OLD\]: Node 20\.\d+\.\d+ cannot run Meridian, which needs 24\.15 or newer\. Next: install a newer Node\.\n$/
    for (const [node, ...flags] of oldNodes()) {
      const command = installAlone(tarball("cli"))
      const ran = run(
        command,
        node,
        ...flags,
        join(command.cwd, "node_modules/@meridian/cli/dist/meridian.js"),
        "run",
      )
      expect([ran.status, ran.stdout]).toEqual([2, ""])
      expect(ran.stderr).toMatch(refusal)
      const engine = installAlone(tarball("engine"))
      writeFileSync(
        join(engine.cwd, "program.mjs"),
        'import("@meridian/engine").catch((error) => process.stderr.write(error.message + "\\n"))',
      )
      expect(run(engine, node, ...flags, "program.mjs").stderr).toMatch(refusal)
    }
  })
})

verifies("install.old-node", () => {
  const clone = { cwd: emptyFolder(), home: emptyFolder() }
  for (const file of [".npmrc", "package-lock.json", ...MANIFESTS]) {
    mkdirSync(dirname(join(clone.cwd, file)), { recursive: true })
    copyFileSync(file, join(clone.cwd, file))
  }
  const old = { ...clone, env: { NODE_OPTIONS: `--require "${disguise("v20.20.2")}"` } }
  const said = run(old, "npm", "ci", "--dry-run")
  expect([said.status, said.stderr]).toEqual([0, ""])
  expect(said.stdout).toMatch(/added \d+ packages/)
  // At its usual log level, npm would only have warned about other people's libraries.
  const warned = run(old, "npm", "ci", "--dry-run", "--loglevel=warn").stderr
  expect(warned).toContain("EBADENGINE")
  expect(warned).not.toMatch(/package: '(meridian|@meridian\/)/)
  // An error is still reported.
  rmSync(join(clone.cwd, "package-lock.json"))
  expect(run(old, "npm", "ci").stderr).toContain("package-lock.json")
})

const MANIFESTS = ["package.json", ...globSync("packages/*/package.json")]

/** This Node under an old version number, and every really old Node of the machine. */
const oldNodes = (): readonly (readonly [string, ...(readonly string[])])[] => {
  const real = SEARCH_PATH.split(delimiter)
    .map((place) => join(place, "node"))
    .filter((file) => spawnSync(file, ["--version"], { encoding: "utf8" }).stdout?.startsWith("v20."))
  return [
    [process.execPath, "--require", disguise("v20.20.2")],
    ...[...new Set(real)].map((node) => [node] as const),
  ]
}

/** A file that makes this Node report another version when it is required first. */
const disguise = (version: string): string => {
  const file = join(emptyFolder(), "disguise.cjs")
  const versions = `{ ...process.versions, node: "${version.slice(1)}" }`
  writeFileSync(
    file,
    `Object.defineProperties(process, { version: { value: "${version}" }, versions: { value: ${versions} } })`,
  )
  return file
}

const program = (directory: string): string => `import { openEngine } from "@meridian/engine"
const engine = await openEngine({
  database: ":memory:",
  models: [{ id: "fake/one", provider: "scripted", contextWindow: 200_000, maxOutput: 8_000, script: [{ text: "It is sunny." }] }],
  permissions: [{ action: "*", resource: "*", effect: "allow" }],
})
const session = await engine.sessions.create({ location: { directory: ${JSON.stringify(directory)} } })
await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "How is the weather?" } })
await engine.sessions.wait(session.id)
const { items } = await engine.sessions.messages({ sessionID: session.id })
for (const message of items)
  if (message.type === "assistant")
    for (const part of message.content) if (part.type === "text") process.stdout.write(part.text + "\\n")
await engine.close()
`

/** The compiler's output for a program in that folder. Libraries are checked too, unless told otherwise. */
const compile = (
  { cwd, home }: Command,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): string => {
  writeFileSync(join(cwd, "program.ts"), text)
  mkdirSync(join(cwd, "node_modules/@types"), { recursive: true })
  for (const name of ["@types/node", "undici-types"])
    if (!existsSync(join(cwd, "node_modules", name)))
      symlinkSync(resolve("node_modules", name), join(cwd, "node_modules", name))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    types: ["node"],
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    preserveSymlinks: true,
    ...more,
  }
  writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
  const { stdout } = run({ cwd, home }, resolve("node_modules/.bin/tsc"), "-p", "tsconfig.json")
  return stdout
}
