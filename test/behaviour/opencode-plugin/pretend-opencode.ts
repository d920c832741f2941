/**
 * OpenCode as its plugins see it: a project on disk, a client that answers from memory and records its calls, and the hooks
 * called in the order of OpenCode 1.18. Tests check the plugin's outputs, never its internals.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import plugin from "@meridian/opencode-plugin"
import { vi } from "vitest"

export interface LogLine {
  readonly service: string
  readonly level: string
  readonly message: string
  readonly extra: Readonly<Record<string, unknown>>
}

export interface Pretend {
  readonly root: string
  readonly logs: readonly LogLine[]
  /** Bodies passed to `session.prompt`, with the session. */
  readonly sent: readonly { readonly session: string; readonly body: Record<string, unknown> }[]
  readonly write: (path: string, text: string | Buffer) => void
  readonly hook: (name: string, input: unknown, output?: unknown) => Promise<void>
  readonly event: (type: string, properties: object) => Promise<void>
  readonly prompt: (text: string, more?: object) => Promise<void>
  readonly tool: (tool: string, args: object) => Promise<void>
  /** What one main request contains besides the base prompt. */
  readonly mainRequest: (model?: object) => Promise<readonly string[]>
  readonly titleRequest: () => Promise<readonly string[]>
  readonly compact: () => Promise<{
    readonly context: readonly string[]
    readonly summary: readonly string[]
  }>
  readonly close: () => void
}

export interface PretendOptions {
  readonly options?: unknown
  readonly session?: string
  readonly files?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
  /** Messages of the session in OpenCode's shape. */
  readonly history?: readonly unknown[]
  /** Replaces or adds parts of the client. */
  readonly client?: object
  /** Relative to the project's root: the folder in which the user started. */
  readonly directory?: string
  readonly worktree?: string
}

const TITLE = "You are a title generator. You output ONLY a thread title. Nothing else."
const SUMMARY = "You are a context summarization agent. You are given a conversation."
const BASE = "You are opencode, an interactive CLI tool."

export const openPretend = async (given: PretendOptions = {}): Promise<Pretend> => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-plugin-"))
  const root = join(folder, "project")
  mkdirSync(root)
  const write: Pretend["write"] = (path, text) => {
    const full = join(root, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
  }
  for (const [path, text] of Object.entries(given.files ?? {})) write(path, text)
  vi.stubEnv("HOME", join(folder, "home"))
  vi.stubEnv("XDG_CONFIG_HOME", join(folder, "config"))
  vi.stubEnv("XDG_STATE_HOME", join(folder, "state"))
  for (const name of [
    "OPENCODE_CONFIG_DIR",
    "MERIDIAN_PLUGIN_OPTIONS",
    "MERIDIAN_STATE_ROOT",
    "MERIDIAN_SPACE_ID",
  ])
    vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(given.environment ?? {}))
    vi.stubEnv(name, value.replace("<folder>", folder))

  const session = given.session ?? "ses_1"
  const logs: LogLine[] = []
  const sent: { session: string; body: Record<string, unknown> }[] = []
  const client = {
    app: {
      log: async ({ body }: { body: LogLine }) => {
        logs.push(body)
        return { data: true }
      },
      agents: async () => ({ data: [] }),
    },
    session: {
      messages: async () => ({ data: given.history ?? [] }),
      status: async () => ({ data: {} }),
      prompt: async ({ path, body }: { path: { id: string }; body: Record<string, unknown> }) => {
        sent.push({ session: path.id, body })
        return { data: {} }
      },
    },
    tool: { ids: async () => ({ data: ["bash", "read"] }) },
    mcp: { status: async () => ({ data: { "my server": { status: "connected" } } }) },
    ...given.client,
  }
  const hooks = await plugin.server(
    { client, directory: join(root, given.directory ?? "."), worktree: given.worktree ?? root },
    given.options,
  )
  const hook: Pretend["hook"] = async (name, input, output = {}) => {
    const found = hooks[name]
    if (found === undefined) throw new Error(`the plugin has no hook ${name}`)
    await found(input, output)
  }
  const request = async (base: string, model: object): Promise<readonly string[]> => {
    const output = { system: [base] }
    await hook("experimental.chat.system.transform", { sessionID: session, model }, output)
    return output.system.slice(1)
  }

  return {
    root,
    logs,
    sent,
    write,
    hook,
    event: (type, properties) => hook("event", { event: { type, properties } }),
    prompt: (text, more = {}) =>
      hook(
        "chat.message",
        { sessionID: session },
        { message: { role: "user", ...more }, parts: [{ type: "text", text }] },
      ),
    tool: (tool, args) => hook("tool.execute.before", { tool, sessionID: session, callID: "call" }, { args }),
    mainRequest: (model = { providerID: "fake", id: "small" }) => request(BASE, model),
    titleRequest: () => request(TITLE, {}),
    compact: async () => {
      const output = { context: [] as string[], prompt: undefined }
      await hook("experimental.session.compacting", { sessionID: session }, output)
      const summary = await request(SUMMARY, {})
      await hook("event", { event: { type: "session.compacted", properties: { sessionID: session } } })
      if (output.prompt !== undefined) throw new Error("the plugin touched output.prompt")
      return { context: output.context, summary }
    },
    close: () => {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A message of OpenCode's history with one tool call in it. */
export const toolMessage = (tool: string, input: object, session = "ses_1"): object => ({
  info: { id: `msg_${tool}`, role: "assistant", sessionID: session },
  parts: [{ type: "tool", tool, callID: "call", state: { status: "completed", input } }],
})

export const userMessage = (text: string, more: object = {}, session = "ses_1"): object => ({
  info: { id: "msg_user", role: "user", sessionID: session, ...more },
  parts: [{ type: "text", text }],
})

export const summaryMessage = (session = "ses_1"): object => ({
  info: { id: "msg_summary", role: "assistant", sessionID: session, summary: true, mode: "compaction" },
  parts: [{ type: "text", text: "a summary" }],
})
