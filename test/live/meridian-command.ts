/** The shipped `meridian`, as a user or an agent calls it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { dirname, join } from "node:path"

import type { LiveScene } from "./harness-scene.ts"

export const MERIDIAN = join(import.meta.dirname, "../../packages/cli/dist/meridian.js")

export interface Called {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Meridian = (...args: readonly string[]) => Promise<Called>

export const meridianIn = (scene: LiveScene, extra: Readonly<Record<string, string>> = {}): Meridian => {
  const env = {
    ...scene.environment,
    PATH: `${dirname(scene.binary)}:${scene.environment["PATH"]}`,
    ...extra,
  }
  return async (...args) => {
    const child = spawn(process.execPath, [MERIDIAN, ...args], {
      cwd: scene.project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString("utf8")
    })
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8")
    })
    await once(child, "close")
    return { exitCode: child.exitCode, stdout, stderr }
  }
}
