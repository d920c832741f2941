/** Starts the provider of the comparison and asks it what it has seen. */
import { spawn } from "node:child_process"
import { once } from "node:events"

export interface Provider {
  readonly address: string
  /** How long the provider needed for each request since the last call. */
  readonly held: () => Promise<readonly number[]>
  /** The number of requests so far, and the messages of the last one. */
  readonly seen: () => Promise<Seen>
  readonly close: () => Promise<void>
}

export interface Seen {
  readonly requests: number
  readonly last: readonly {
    readonly role: string
    readonly content?: unknown
    readonly tool_calls?: unknown
  }[]
}

export const startProvider = async (): Promise<Provider> => {
  const child = spawn(process.execPath, ["--conditions=meridian-source", "bench/peers/provider.entry.ts"], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const [line] = await once(child.stdout, "data")
  const { port } = JSON.parse(String(line)) as { port: number }
  const address = `http://127.0.0.1:${port}`
  const get = async <Value>(path: string): Promise<Value> =>
    (await (await fetch(`${address}${path}`)).json()) as Value
  return {
    address,
    held: () => get<readonly number[]>("/held"),
    seen: () => get<Seen>("/seen"),
    close: async () => {
      child.kill("SIGTERM")
      await once(child, "exit")
    },
  }
}
