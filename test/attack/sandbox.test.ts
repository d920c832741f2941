/**
 * Escapes that must fail inside: each is a command line that tries to reach something outside. They are run as a harness,
 * in a worktree, as a check, and as a command of the engine. A canary outside shows what got through.
 */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { wrapInSandbox } from "@meridian/spaces"
import { expect, onTestFinished } from "vitest"

import type { RepositoryScene } from "../scene/repository.ts"
import { openSandboxScene, testSandbox } from "../scene/sandbox.ts"

const SECRET = "canary-in-a-cage"

/** What each would leave behind: the secret in the project, or a file outside it. */
const ESCAPES: Readonly<Record<string, string>> = {
  "reads a key": "cat ~/.ssh/id",
  "reads a key by its mounted path": 'cat "/proc/self/root$HOME/.ssh/id"; cat "/proc/$$/cwd/../.ssh/id"',
  "reads a key through another process": 'for p in /proc/[0-9]*; do cat "$p/root$HOME/.ssh/id"; done',
  "takes the cover off a secret": "umount ~/.ssh; umount -l ~/.ssh; cat ~/.ssh/id",
  "mounts the disk once more":
    'mount --bind / /mnt; cat "/mnt$HOME/.ssh/id"; mount -o remount,rw /; touch "$OUT/a"',
  "makes a world of its own":
    "unshare -Urm sh -c 'umount ~/.ssh; cat ~/.ssh/id; mount -o remount,rw /; touch \"$OUT/b\"'",
  "makes a sandbox in the sandbox": "bwrap --dev-bind / / sh -c 'cat ~/.ssh/id; touch \"$OUT/c\"'",
  "reads the credentials of another harness": "cat ~/.codex/auth.json",
  "reads the trust book": "cat ~/.local/state/meridian/trust; cat ~/.local/state/meridian/http-token/*",
  "reads the credentials of git": "cat ~/.git-credentials ~/.netrc ~/.npmrc ~/.config/gh/hosts.yml",
  "reads what others have in /tmp": 'cat "$OUT/secret"',
  "reads the environment of another process": "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep CANARY",
  "writes into home": "touch ~/d; mkdir ~/.config/autostart; echo x >> ~/.bashrc",
  "writes outside by a link": 'ln -s "$OUT" link; touch link/e; ln -s ~ home; touch home/f',
  "writes outside by a hard link": "ln ~/.bashrc hard && echo x >> hard",
  "writes to the temporary folder of others": 'touch "$OUT/g"',
  "has git start something later":
    "echo 'touch \"$OUT/h\"' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
  "has git start something by its configuration":
    'git config core.fsmonitor "touch $OUT/i"; git config core.hooksPath /tmp',
  "puts another repository in the place of git's":
    "mv .git .git2; cp -r .git2 .git; touch .git/hooks/pre-commit",
  "asks a server of the user":
    "printf x | nc -U \"$OUT/socket\"; node -e \"require('net').connect(process.env.OUT + '/socket').end('x')\"",
  "asks the agent of the user":
    "printf x | nc -U \"$SSH_AUTH_SOCK\"; node -e \"require('net').connect(process.env.SSH_AUTH_SOCK).end('x')\"",
  "writes to the machine":
    "echo x > /proc/sys/kernel/hostname; hostname canary; echo 1 > /proc/sysrq-trigger; touch /etc/j /usr/k /var/l",
  "reads a disk": "cat /dev/vda | head -c 100; mknod disk b 254 0 && cat disk | head -c 100",
  "reads the passwords of the machine": "cat /etc/shadow",
  "gains rights": "sudo -n id; su -c id; cp /bin/sh s; chmod u+s s; ./s -c 'touch \"$OUT/m\"'",
}

const openCage = (more = "") => {
  const scene = openSandboxScene(more)
  const home = scene.env["HOME"] ?? ""
  const out = mkdtempSync(join(tmpdir(), "outside-"))
  const put = (path: string): void => {
    mkdirSync(join(home, path, ".."), { recursive: true })
    writeFileSync(join(home, path), SECRET)
  }
  for (const path of [
    ".ssh/id",
    ".codex/auth.json",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".config/gh/hosts.yml",
    ".local/state/meridian/http-token/1",
  ])
    put(path)
  writeFileSync(join(home, ".bashrc"), "")
  writeFileSync(join(out, "secret"), SECRET)
  const asked: string[] = []
  const server = createServer((socket) =>
    socket.on("data", () => asked.push("asked")).on("error", () => undefined),
  )
  server.listen(join(out, "socket"))
  onTestFinished(() => {
    server.close()
    another.kill("SIGKILL")
    rmSync(out, { recursive: true, force: true })
  })
  const env = { OUT: out, SSH_AUTH_SOCK: join(out, "socket") }
  const another = spawn("sleep", ["infinity"], { env: { ...scene.env, CANARY: SECRET }, stdio: "ignore" })
  const outside = (): string =>
    JSON.stringify([
      readdirSync(out).toSorted(),
      execFileSync(
        "find",
        [home, "-path", scene.project, "-prune", "-o", "-newer", join(out, "secret"), "-type", "f", "-print"],
        { encoding: "utf8" },
      )
        .split("\n")
        .filter((path) => path !== "" && !path.startsWith(scene.bin) && !path.includes("/meridian/"))
        .toSorted(),
      readFileSync(join(home, ".bashrc"), "utf8"),
      scene.git("config", "--list", "--local"),
      readdirSync(join(scene.project, ".git/hooks")).toSorted(),
      existsSync("/etc/j"),
    ])
  return { scene, env, outside, asked }
}

/** All of them in one script. The output of each goes into its own file. */
const script = (folder: string): string =>
  Object.values(ESCAPES)
    .map((escape, index) => `( cd ${folder}; ${escape} ) > ${folder}/said-${index} 2>&1 </dev/null`)
    .join("\n")

const named = (folder: string): readonly string[] =>
  Object.keys(ESCAPES).filter((_, index) => {
    const said = readFileSync(join(folder, `said-${index}`), "utf8")
    // The passwords of the machine are not our canary.
    return said.includes(SECRET) || /^root:[^:]*:\d+:/m.test(said)
  })

const asFile = (scene: RepositoryScene, folder: string): string => {
  const file = join(scene.bin, "escapes.sh")
  writeFileSync(file, script(folder))
  return `sh ${file}; true`
}

testSandbox("no escape gets out of a harness in a sandbox", async () => {
  const { scene, env, outside, asked } = openCage()
  scene.harness("claude", { answer: "done", does: asFile(scene, scene.project) })
  const before = outside()
  const run = await scene.call(
    "run.spawn",
    { prompt: "x", harness: "claude", permission: "danger", sandbox: "" },
    { env },
  )
  expect(run.document).toMatchObject({ status: "succeeded", sandbox: { by: "bubblewrap" } })
  expect(named(scene.project)).toEqual([])
  expect(outside()).toBe(before)
  expect(asked).toEqual([])
})

testSandbox("no escape gets out of a check in a sandbox, nor does what it leaves behind", async () => {
  const { scene, env, outside, asked } = openCage()
  const folder = join(scene.project, "check")
  mkdirSync(folder)
  scene.harness("claude", { answer: "done" })
  const before = outside()
  const check = `${asFile(scene, folder)}; setsid sh -c 'sleep 1000' & kill -9 -1; true`
  await scene.call(
    "run.spawn",
    { prompt: "x", harness: "claude", permission: "danger", sandbox: "", check, check_rounds: 0 },
    { env },
  )
  expect(named(folder)).toEqual([])
  expect(outside()).toBe(before)
  expect(asked).toEqual([])
})

testSandbox(
  "no escape gets out of a command of the engine in a sandbox, and without network it reaches nobody",
  async () => {
    const { scene, env, outside, asked } = openCage()
    const server = createServer((socket) => socket.end(SECRET))
    const port = await new Promise<number>((done) => {
      server.listen(0, "127.0.0.1", () => done(Object(server.address())["port"]))
    })
    onTestFinished(() => void server.close())
    const before = outside()
    const place = {
      project: scene.project,
      root: join(scene.project, ".meridian"),
      gitignore: "",
      spaces: "",
      spacesLock: "",
    }
    const all = { ...scene.env, ...env }
    const reach = `node -e "require('net').connect(${port},'127.0.0.1').on('data',(d)=>console.log(String(d))).on('error',()=>0)" > ${scene.project}/reached 2>&1`
    const run = async (network: "on" | "off"): Promise<string> => {
      const [program = "", ...args] = await wrapInSandbox(
        { use: { network, writable: [] }, place, env: all, directory: scene.project, isAlone: false },
        ["sh", "-c", `${asFile(scene, scene.project)}; ${reach}`],
      )
      // `execFile` would block the server that it asks.
      const { promise, resolve } = Promise.withResolvers<void>()
      spawn(program, args, { env: all, stdio: "ignore" }).once("close", () => resolve())
      await promise
      return readFileSync(join(scene.project, "reached"), "utf8").trim()
    }
    expect(await run("off")).toBe("")
    expect(named(scene.project)).toEqual([])
    expect(outside()).toBe(before)
    expect(asked).toEqual([])
    expect(await run("on")).toBe(SECRET)
  },
)

testSandbox("outside of a sandbox the same escapes reach what they are after", async () => {
  const { scene, env } = openCage()
  const harmless = [
    "reads a key",
    "reads the credentials of another harness",
    "reads what others have in /tmp",
  ]
  const scripted = harmless.map((name) => ESCAPES[name]).join(";")
  scene.harness("claude", { answer: "done", does: `{ ${scripted}; } > said 2>&1; true` })
  await scene.call("run.spawn", { prompt: "x", harness: "claude", permission: "danger" }, { env })
  expect(scene.read("said")).toBe(SECRET.repeat(3))
})
