/**
 * The real OpenCode in a new project: private home, no network but the scripted provider on loopback, no plugins but the
 * project's. `close` ends everything it started and removes everything it wrote.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

import { startScriptedProvider, type RecordedRequest, type ScriptedProvider } from "@meridian/testkit"

import { installHarness } from "./install-harnesses.ts"

export const BUILT_PLUGIN = resolve(import.meta.dirname, "../../packages/opencode-plugin/dist/meridian.js")

type Script = Parameters<typeof startScriptedProvider>[0] extends infer Options
  ? Options extends { readonly script?: infer Steps }
    ? NonNullable<Steps>
    : never
  : never

export interface OpencodeOptions {
  readonly script: Script
  /** Path in the project -> text. */
  readonly files?: Readonly<Record<string, string>>
  /** Entries of `plugin` in opencode.json. */
  readonly plugins?: readonly unknown[]
  readonly environment?: Readonly<Record<string, string>>
}

export interface Opencode {
  readonly project: string
  readonly home: string
  readonly provider: ScriptedProvider
  readonly run: (prompt: string, ...args: readonly string[]) => Promise<Finished>
  /** Runs `opencode serve` and returns its address. */
  readonly serve: () => Promise<string>
  readonly close: () => Promise<void>
}

export interface Finished {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly session: string
}

export const openOpencode = async (options: OpencodeOptions): Promise<Opencode> => {
  const program = installHarness("opencode")
  const provider = await startScriptedProvider({ script: options.script })
  const folder = mkdtempSync(join(tmpdir(), "meridian-opencode-"))
  const project = join(folder, "project")
  const home = join(folder, "home")
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  // Without this OpenCode waits for the npm registry before it loads a plugin.
  const lock = JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } })
  for (const config of [join(project, ".opencode"), join(home, ".config/opencode")]) {
    mkdirSync(join(config, "node_modules"), { recursive: true })
    write(join(config, "package-lock.json"), lock)
  }
  write(join(project, "opencode.json"), JSON.stringify(configuration(provider.url, options.plugins ?? [])))
  for (const [path, text] of Object.entries(options.files ?? {})) write(join(project, path), text)
  // Loading a skill lists its folder with ripgrep, which OpenCode would download.
  const tools = join(folder, "bin")
  write(join(tools, "rg"), "#!/bin/sh\nfind . -type f | sed 's#^\\./##'\n")
  chmodSync(join(tools, "rg"), 0o755)

  const children = new Set<ChildProcess>()
  const start = (args: readonly string[]): ChildProcess => {
    const child = spawn(program, [...args], {
      cwd: project,
      env: {
        PATH: `${dirname(process.execPath)}:${tools}:/usr/bin:/bin`,
        HOME: home,
        PWD: project,
        XDG_STATE_HOME: join(home, "state"),
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_SHARE: "1",
        npm_config_fetch_retries: "0",
        ...options.environment,
      },
    })
    children.add(child)
    child.once("close", () => children.delete(child))
    return child
  }

  return {
    project,
    home,
    provider,
    run: async (prompt, ...args) => {
      const child = start(["run", "--format", "json", "--dir", project, "--auto", ...args])
      const stdout = collect(child.stdout)
      const stderr = collect(child.stderr)
      child.stdin?.end(prompt)
      const timer = setTimeout(() => child.kill("SIGKILL"), 90_000)
      await once(child, "close")
      clearTimeout(timer)
      const session = /"sessionID":"(ses_[^"]+)"/.exec(stdout())?.[1] ?? ""
      return { exitCode: child.exitCode, stdout: stdout(), stderr: stderr(), session }
    },
    serve: async () => {
      const child = start(["serve", "--port", "0"])
      const stdout = collect(child.stdout)
      for (;;) {
        const address = /listening on (http:\/\/\S+)/.exec(stdout())?.[1]
        if (address !== undefined) return address
        if (child.exitCode !== null) throw new Error(`opencode serve ended: ${stdout()}`)
        await Promise.race([once(child.stdout ?? child, "data"), once(child, "close")])
      }
    },
    close: async () => {
      for (const child of children) {
        child.kill("SIGTERM")
        await once(child, "close")
      }
      await provider.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

const collect = (stream: NodeJS.ReadableStream | null): (() => string) => {
  let text = ""
  stream?.on("data", (piece: Buffer) => {
    text += piece.toString("utf8")
  })
  return () => text
}

const configuration = (url: string, plugin: readonly unknown[]): object => ({
  model: "fake/small",
  enabled_providers: ["fake"],
  share: "disabled",
  autoupdate: false,
  plugin,
  provider: {
    fake: {
      npm: "@ai-sdk/openai-compatible",
      name: "Fake",
      options: { baseURL: `${url}/v1`, apiKey: "fake" },
      // Compaction starts when an answer reports 7,000 tokens or more.
      models: { small: { name: "Small", limit: { context: 8000, output: 1000 } } },
    },
  },
})

/** The messages of a recorded chat request, as role and plain text. */
export const messagesOf = (
  request: RecordedRequest,
): readonly { readonly role: string; readonly text: string }[] => {
  const body: unknown = request.body
  const messages: unknown =
    typeof body === "object" && body !== null ? Reflect.get(body, "messages") : undefined
  return Array.isArray(messages)
    ? messages.map((message: unknown) => ({
        role: String(typeof message === "object" && message !== null ? Reflect.get(message, "role") : ""),
        text: plain(typeof message === "object" && message !== null ? Reflect.get(message, "content") : ""),
      }))
    : []
}

const plain = (content: unknown): string =>
  typeof content === "string"
    ? content
    : Array.isArray(content)
      ? content
          .map((part: unknown) =>
            typeof part === "object" && part !== null ? String(Reflect.get(part, "text") ?? "") : "",
          )
          .join("\n")
      : ""
