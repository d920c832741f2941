/** `meridian serve --http` as a separate process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"

import { onTestFinished } from "vitest"

import { BINARY, SEARCH_PATH } from "./cli-binary.ts"

export interface ServerProcess {
  readonly url: string
  readonly port: number
  readonly token: string
  readonly pid: number
  /** Everything it has written so far. */
  readonly output: () => string
  /** Its exit code, or the signal that ended it. */
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<number | string | null>
}

export const startServer = async (
  cwd: string,
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> => {
  if (!existsSync(BINARY)) throw new Error("run 'npm run build' first")
  const child = spawn(process.execPath, [BINARY, "serve", "--http", ...args], {
    cwd,
    env: { PATH: SEARCH_PATH, HOME: cwd, MERIDIAN_REPO_ROOT: cwd, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(child, "exit")
  // Ends the server also when the test fails before ending it.
  onTestFinished(() => void child.kill("SIGKILL"))
  let output = ""
  const ready = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
      if (/#token=\S+\n/.test(output)) ready.resolve()
    })
  void ended.then(() => ready.reject(new Error(`ended before it listened: ${output}`)))
  await ready.promise
  const [, url = "", port = "", token = ""] = /(http:\/\/127\.0\.0\.1:(\d+))\/#token=(\S+)/.exec(output) ?? []
  return {
    url,
    port: Number(port),
    token,
    pid: child.pid ?? 0,
    output: () => output,
    end: async (signal) => {
      child.kill(signal)
      const [code, by]: (number | string | null)[] = await ended
      return code ?? by ?? null
    },
  }
}
