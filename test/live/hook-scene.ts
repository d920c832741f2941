/** A project with a private home, the built `meridian`, and one agent whose only model is the scripted provider. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

import { startScriptedProvider, type RecordedRequest, type ScriptedProvider } from "@meridian/testkit"

import { HARNESS_PATH } from "./install-harnesses.ts"

const MERIDIAN = resolve(import.meta.dirname, "../../packages/cli/dist/meridian.js")

export const STATE = `[Focus: refactor-auth] 2026-04-01
- Extracted the validator.
- Decision: keep the old exports.

## Next Operator Brief
- Open Work: migrate the callers.
`

export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface HookScene {
  readonly project: string
  readonly home: string
  readonly provider: ScriptedProvider
  readonly run: (
    program: string,
    args: readonly string[],
    more?: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> },
  ) => Promise<Ended>
  readonly meridian: (...args: readonly string[]) => Promise<Ended>
  /** A file of the project. */
  readonly write: (path: string, text: string) => void
  /** The requests answered by the step with this label, each as one text. */
  readonly texts: (label: string) => readonly string[]
  readonly close: () => Promise<void>
}

export const openHookScene = async (
  script: NonNullable<Parameters<typeof startScriptedProvider>[0]>["script"] & object,
): Promise<HookScene> => {
  const provider = await startScriptedProvider({ script })
  const folder = mkdtempSync(join(tmpdir(), "meridian-hook-"))
  const project = join(folder, "project")
  const home = join(folder, "home")
  mkdirSync(join(project, ".git"), { recursive: true })
  mkdirSync(home)
  writeFileSync(join(project, "SESSION.md"), STATE)
  const run: HookScene["run"] = async (program, args, more = {}) => {
    const child = spawn(program, [...args], {
      cwd: project,
      env: {
        PATH: HARNESS_PATH,
        HOME: home,
        PWD: project,
        ...more.environment,
      },
      timeout: 90_000,
      killSignal: "SIGKILL",
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString("utf8")))
    child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString("utf8")))
    child.stdin.end(more.input ?? "")
    await once(child, "close")
    return { exitCode: child.exitCode, stdout, stderr }
  }
  return {
    project,
    home,
    provider,
    run,
    meridian: (...args) => run(process.execPath, [MERIDIAN, ...args]),
    write: (path, text) => {
      mkdirSync(dirname(join(project, path)), { recursive: true })
      writeFileSync(join(project, path), text)
    },
    texts: (label) => provider.requests.filter(({ turn }) => turn === label).map(bodyOf),
    close: async () => {
      await provider.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** All texts of a request, unescaped, in any format. */
const bodyOf = ({ body }: RecordedRequest): string => textsIn(body).join("\n")

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
