/**
 * The program that makes sandboxes, and whether it works on this machine. It is tried once, because a kernel or a
 * container may forbid it.
 */
import { execFile } from "node:child_process"
import { accessSync, constants, readFileSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

import type { SandboxNetwork } from "../domain/sandbox.ts"

export type Bubblewrap =
  | { readonly tag: "usable"; readonly program: string }
  | { readonly tag: "unusable"; readonly why: string; readonly next: string }

type Environment = Readonly<Record<string, string | undefined>>

export const findBubblewrap = async (env: Environment, network: SandboxNetwork): Promise<Bubblewrap> => {
  if (process.platform !== "linux")
    return unusable(`bubblewrap is for Linux, and this is ${process.platform}`, NO_SANDBOX)
  const program = (env["PATH"] ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, "bwrap"))
    .find(isExecutable)
  if (program === undefined)
    return unusable("bubblewrap (bwrap) is not installed", `'apt-get install bubblewrap', or ${NO_SANDBOX}`)
  const refusal = await tryOut(program, network)
  return refusal === undefined ? { tag: "usable", program } : unusable(refusal, `${ALLOW}, or ${NO_SANDBOX}`)
}

const NO_SANDBOX = "give --sandbox auto to work without one if there is none."
const ALLOW = "allow user namespaces (sysctl kernel.unprivileged_userns_clone, AppArmor, the container)"

const unusable = (why: string, next: string): Bubblewrap => ({ tag: "unusable", why, next })

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const LONGEST_MS = 10_000

/** Undefined on success. */
const tryOut = (program: string, network: SandboxNetwork): Promise<string | undefined> =>
  new Promise((done) => {
    const kinds = ["user", "ipc", "pid", ...(network === "off" ? ["net"] : [])]
    const mounts = "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp"
    const words = [
      ...kinds.map((kind) => `--unshare-${kind}`),
      ...`--cap-drop ALL --die-with-parent ${mounts} -- /bin/sh -c :`.split(" "),
    ]
    execFile(program, words, { timeout: LONGEST_MS, env: {} }, (error, _stdout, stderr) => {
      const said = stderr.trim().split("\n").at(-1)
      done(error === null ? undefined : `${program} cannot make one (${said || "it gave no reason"})`)
    })
  })

/** The variable is believed only if the machine agrees: the root is read-only, and no process can gain rights. */
export const isInSandbox = (): boolean => {
  try {
    const root = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[4] === "/")
    return (
      root?.split(" ")[5]?.split(",").includes("ro") === true &&
      /^NoNewPrivs:\s*1$/m.test(readFileSync("/proc/self/status", "utf8"))
    )
  } catch {
    return false
  }
}

/** If a program may type into the terminal it shares, no sandbox holds it. */
export const maySpeakForTerminal = (): boolean => {
  try {
    return readFileSync("/proc/sys/dev/tty/legacy_tiocsti", "utf8").trim() !== "0"
  } catch {
    return true
  }
}
