/**
 * The shipped `meridian acp` with the official library as its client: what an editor would see. The library's own schemas
 * check every message before it reaches a handler.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { Readable, Writable } from "node:stream"

import {
  client,
  methods,
  ndJsonStream,
  type ClientCapabilities,
  type ClientContext,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk"
import { onTestFinished } from "vitest"

import { complaintAbout } from "./acp-schema.ts"
import { BINARY } from "./e2e/cli-binary.ts"

export interface AcpClient {
  readonly agent: ClientContext
  readonly child: ChildProcess
  readonly updates: readonly SessionNotification[]
  readonly questions: readonly RequestPermissionRequest[]
  /** Resolves with the first matching update, past or future. */
  readonly heard: (fits: (update: SessionUpdate) => boolean) => Promise<SessionUpdate>
  readonly asked: (count: number) => Promise<void>
  readonly stderr: () => string
  /** Messages that the protocol's own schema refuses. */
  readonly complaints: readonly string[]
  readonly open: (cwd: string, session?: string) => Promise<string>
  readonly say: (session: string, text: string) => Promise<string>
  readonly kill: () => Promise<void>
  /** Closes its input, like an editor that ends. */
  readonly end: () => Promise<number | null>
}

export interface AcpOptions {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly capabilities?: ClientCapabilities
  /** How questions are answered. Without it, none ever is. */
  readonly answer?: (
    question: RequestPermissionRequest,
  ) => RequestPermissionResponse | Promise<RequestPermissionResponse>
  readonly args?: readonly string[]
}

export const choose = (optionId: string): RequestPermissionResponse => ({
  outcome: { outcome: "selected", optionId },
})

export const startAcp = async (options: AcpOptions): Promise<AcpClient> => {
  const child = spawn(process.execPath, [BINARY, "acp", ...(options.args ?? [])], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe"],
  })
  const updates: SessionNotification[] = []
  const questions: RequestPermissionRequest[] = []
  const watchers = new Set<() => void>()
  const changed = (): void => watchers.forEach((watch) => watch())
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  child.stdin.on("error", () => undefined)
  const until = <Found>(look: () => Found | undefined): Promise<Found> =>
    new Promise((resolve) => {
      const watch = (): void => {
        const found = look()
        if (found === undefined) return
        watchers.delete(watch)
        resolve(found)
      }
      watchers.add(watch)
      watch()
    })
  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params)
      changed()
    })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
      questions.push(params)
      changed()
      if (options.answer !== undefined) return options.answer(params)
      const cancelled: RequestPermissionResponse = { outcome: { outcome: "cancelled" } }
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(cancelled), { once: true }),
      )
    })
  const complaints: string[] = []
  let unread = ""
  child.stdout.on("data", (bytes: Buffer) => {
    const lines = (unread + bytes.toString("utf8")).split("\n")
    unread = lines.pop() ?? ""
    for (const line of lines) complaints.push(...complaintAbout(line))
  })
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  const { agent } = connection
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, "close")
    child.kill("SIGKILL")
    await gone
  }
  onTestFinished(kill)
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
  })
  return {
    agent,
    child,
    updates,
    questions,
    heard: (fits) => until(() => updates.map(({ update }) => update).find(fits)),
    asked: async (count) => void (await until(() => (questions.length >= count ? true : undefined))),
    stderr: () => stderr,
    complaints,
    open: async (cwd, session) => {
      if (session === undefined)
        return (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId
      await agent.request(methods.agent.session.load, { sessionId: session, cwd, mcpServers: [] })
      return session
    },
    say: async (sessionId, text) =>
      (await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }))
        .stopReason,
    kill,
    end: async () => {
      const gone = once(child, "close")
      child.stdin.end()
      await gone
      return child.exitCode
    },
  }
}
