/** OpenCode's server, used as its clients do: a message is answered when its turn is over. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { serve } from "./serve.mjs"

/** The tool in its own format, loaded from the project. It writes the same marks. */
const toolFile = (marks) => `
import { appendFileSync } from "node:fs"
export default {
  description: "Does nothing and answers with a kilobyte.",
  args: {},
  execute: async () => {
    const marks = ${JSON.stringify(marks)}
    if (marks !== "") {
      appendFileSync(marks, "start\\n")
      await new Promise((resolve) => setTimeout(resolve, 60))
      appendFileSync(marks, "end\\n")
    }
    return "r".repeat(1024)
  },
}
`

await serve(async ({ folder, address }) => {
  const program = process.env.BENCH_OPENCODE
  const marks = process.argv[4] ?? ""
  const project = join(folder, "project")
  const home = join(folder, "home")
  const write = (path, text) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const lock = JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } })
  for (const place of [join(project, ".opencode"), join(home, ".config/opencode")]) {
    mkdirSync(join(place, "node_modules"), { recursive: true })
    write(join(place, "package-lock.json"), lock)
  }
  write(join(project, ".opencode/tool/noop.js"), toolFile(marks))
  write(
    join(project, "opencode.json"),
    JSON.stringify({
      model: "bench/one",
      small_model: "bench/one",
      enabled_providers: ["bench"],
      share: "disabled",
      autoupdate: false,
      permission: "allow",
      provider: {
        bench: {
          npm: "@ai-sdk/openai-compatible",
          name: "Bench",
          options: { baseURL: `${address}/v1`, apiKey: "none" },
          models: { one: { name: "One", limit: { context: 100_000_000, output: 4000 } } },
        },
      },
    }),
  )
  const child = spawn(program, ["serve", "--port", "0"], {
    cwd: project,
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: home,
      PWD: project,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_SHARE: "1",
      npm_config_fetch_retries: "0",
    },
  })
  const ended = once(child, "exit")
  const url = await new Promise((resolve, reject) => {
    let said = ""
    child.stdout.on("data", (data) => {
      said += String(data)
      const found = /listening on (http:\/\/\S+)/.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once("exit", () => reject(new Error(said)))
  })
  const post = async (path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  /** Its session ids by our names, for the next start. */
  const table = join(folder, "sessions.json")
  const ids = existsSync(table) ? JSON.parse(readFileSync(table, "utf8")) : {}
  const sessionOf = async (name) => {
    if (ids[name] === undefined) {
      ids[name] = (await post("/session", { title: name })).id
      writeFileSync(table, JSON.stringify(ids))
    }
    return ids[name]
  }
  const turn = async (name, text) => {
    await post(`/session/${await sessionOf(name)}/message`, {
      model: { providerID: "bench", modelID: "one" },
      parts: [{ type: "text", text }],
    })
  }
  const close = async () => {
    child.kill("SIGTERM")
    await ended
  }
  return { turn, resume: (name) => turn(name, "Go on."), close }
})
