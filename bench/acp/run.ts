/**
 * How much longer an editor waits than an embedding program: the time from sending a prompt to the first fragment of the
 * answer, through `meridian acp` with the official client, compared with the engine in this process. Both ask the same
 * provider and take turns. `--quick` makes it short.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { loadavg } from "node:os"
import { join, resolve } from "node:path"
import { Readable, Writable } from "node:stream"

import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk"

import { openEngine } from "../../packages/engine/dist/index.js"
import { median, percentile, PROMPT, startProvider, temporaryFolder } from "../engine/scene.ts"

const quick = process.argv.includes("--quick")
const PROMPTS = quick ? 30 : 200
const LIMIT_MS = 5

const provider = await startProvider()
const folder = temporaryFolder()
const project = join(folder.path, "project")
mkdirSync(join(project, ".meridian"), { recursive: true })
const baseURL = `http://127.0.0.1:${provider.port}/v1`

/** Milliseconds from the prompt to the first fragment, one per prompt. */
type Ask = () => Promise<number>

const openEngineSide = async (): Promise<{ readonly ask: Ask; readonly close: () => Promise<void> }> => {
  const engine = await openEngine({
    database: join(folder.path, "engine.sqlite"),
    models: [
      {
        id: "local/one",
        provider: "openai-compatible",
        baseURL,
        apiKey: "x",
        model: "one",
        contextWindow: 1_000_000,
        maxOutput: 8_000,
      },
    ],
    permissions: [],
  })
  const { id: sessionID } = await engine.sessions.create({ location: { directory: project } })
  const first = openFirst()
  const listening = (async () => {
    for await (const item of engine.sessions.live(sessionID)) if (item.type === "text.delta") first.arrive()
  })().catch(() => undefined)
  return {
    ask: async () => {
      const arrived = first.wait()
      const sent = performance.now()
      await engine.sessions.prompt({ sessionID, prompt: { text: PROMPT.text } })
      const at = await arrived
      await engine.sessions.wait(sessionID)
      return at - sent
    },
    close: async () => {
      await engine.close()
      await listening
    },
  }
}

const openEditorSide = async (): Promise<{ readonly ask: Ask; readonly close: () => Promise<void> }> => {
  const child = spawn(
    process.execPath,
    [resolve("packages/cli/dist/meridian.js"), "acp", "-m", "ollama/one"],
    {
      cwd: project,
      env: {
        // oxlint-disable-next-line node/no-process-env -- the tools of this machine
        PATH: process.env["PATH"] ?? "",
        HOME: folder.path,
        MERIDIAN_REPO_ROOT: project,
        OLLAMA_HOST: baseURL,
      },
      stdio: ["pipe", "pipe", "inherit"],
    },
  )
  const first = openFirst()
  const app = client({ name: "bench" }).onNotification(methods.client.session.update, ({ params }) => {
    if (params.update.sessionUpdate === "agent_message_chunk") first.arrive()
  })
  const { agent } = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  await agent.request(methods.agent.initialize, { protocolVersion: 1 })
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: project, mcpServers: [] })
  return {
    ask: async () => {
      const arrived = first.wait()
      const sent = performance.now()
      const answered = agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: "text", text: PROMPT.text }],
      })
      const at = await arrived
      await answered
      return at - sent
    },
    close: async () => {
      const gone = once(child, "close")
      child.stdin.end()
      await gone
    },
  }
}

const openFirst = () => {
  let next: ((at: number) => void) | undefined
  return {
    arrive: (): void => {
      next?.(performance.now())
      next = undefined
    },
    wait: (): Promise<number> =>
      new Promise((settle) => {
        next = settle
      }),
  }
}

const [ours, own] = [await openEditorSide(), await openEngineSide()]
const times = { ours: [] as number[], own: [] as number[] }
for (let count = 0; count < PROMPTS; count += 1) {
  times.own.push(await own.ask())
  times.ours.push(await ours.ask())
}
await ours.close()
await own.close()
await provider.close()
folder.remove()
const over = median(times.ours) - median(times.own)
const shown = (values: readonly number[]): string =>
  `p50 ${median(values).toFixed(2)} ms, p95 ${percentile(values, 0.95).toFixed(2)} ms`
process.stdout.write(
  `node ${process.versions.node}, load ${loadavg()[0]?.toFixed(2)}\nprompt to first update: acp ${shown(times.ours)}; engine ${shown(times.own)}; over the engine's own ${over.toFixed(2)} ms (at most ${LIMIT_MS})\n`,
)
