/**
 * A victim with a private home, honest harnesses on their PATH, and a folder that somebody else wrote: the scene of the
 * attack suite. Commands run the shipped binary, as the victim would, in that folder.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import { dirname, join } from "node:path"

import {
  installPretendHarness,
  type PretendBehaviour,
  type PretendHarness,
  type PretendName,
} from "@meridian/testkit"
import { onTestFinished } from "vitest"

import { emptyFolder, meridian, SEARCH_PATH, type Ran } from "../e2e/cli-binary.ts"

export interface AttackScene {
  /** The victim's home. Nothing in it comes from the attacker. */
  readonly home: string
  /** The folder that the victim cloned. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Writes files of the attacker, relative to the folder. */
  readonly plant: (files: Readonly<Record<string, string>>) => void
  /** Plants a script of the attacker that leaves a trace when it is run. */
  readonly plantProgram: (path: string) => void
  /** Whether a program of the attacker was run. */
  readonly wasRun: () => boolean
  /** Forgets that it was. */
  readonly forget: () => void
  /** An honest harness on the victim's PATH. */
  readonly harness: (as: PretendName, behaviour?: PretendBehaviour) => PretendHarness
  readonly run: (words: readonly string[], options?: RunOptions) => Promise<Ran>
}

const PATIENCE_MS = 40_000

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

export const openAttack = (files: Readonly<Record<string, string>> = {}): AttackScene => {
  const base = emptyFolder("attack ")
  const [home, folder, bin, trace] = [
    join(base, "home"),
    join(base, "clone"),
    join(base, "bin"),
    join(base, "trace"),
  ]
  mkdirSync(home)
  mkdirSync(join(folder, ".git"), { recursive: true })
  mkdirSync(bin)
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 3 }))
  const env = { PATH: `${bin}:${dirname(process.execPath)}:${SEARCH_PATH}`, HOME: home, ATTACK_TRACE: trace }
  const plant: AttackScene["plant"] = (planted) => {
    for (const [path, content] of Object.entries(planted)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
  }
  plant(files)
  return {
    home: realpathSync(home),
    folder: realpathSync(folder),
    env,
    plant,
    plantProgram: (path) => {
      // The trace's path is written into the script, because a launcher may have cleared the environment.
      plant({ [path]: `#!/bin/sh\necho "$0 $*" >> '${trace}'\n` })
      chmodSync(join(folder, path), 0o755)
    },
    wasRun: () => existsSync(trace),
    forget: () => rmSync(trace, { force: true }),
    harness: (as, behaviour) =>
      installPretendHarness(bin, { as, ...(behaviour === undefined ? {} : { behaviour }) }),
    run: (words, options = {}) =>
      meridian(words, {
        cwd: options.cwd ?? folder,
        env: { MERIDIAN_REPO_ROOT: "", ...env, ...options.env },
        // A successful attack may be a command that never ends.
        patienceMs: PATIENCE_MS,
        ...(options.input === undefined ? {} : { input: options.input }),
      }),
  }
}

export interface Listener {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Everything that was sent to it, headers and bodies, as text. */
  readonly heard: () => string
}

/** A server that records what it gets. It answers every request with an empty list, or with this status. */
export const openListener = async (status = 200): Promise<Listener> => {
  let heard = ""
  const hear = (request: IncomingMessage): void => {
    heard += `${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n`
    request.on("data", (piece: Buffer) => {
      heard += piece.toString("utf8")
    })
  }
  const server = createServer((request, response) => {
    hear(request)
    response.writeHead(status).end('{"data":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return { url: `http://127.0.0.1:${address.port}`, heard: () => heard }
}

/** The arguments of a harness's last call, as one text. */
export const lastCall = (harness: PretendHarness): string => harness.calls().at(-1)?.argv.join(" ") ?? ""

export const read = (path: string): string => readFileSync(path, "utf8")
