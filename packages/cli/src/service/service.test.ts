import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, onTestFinished, test } from "vitest"

import { installService } from "./install-service.ts"
import { MARK, serviceFile, type ServiceFacts } from "./service-file.ts"

const FACTS: ServiceFacts = {
  platform: "linux",
  home: "/home/dev",
  configHome: undefined,
  program: ["/opt/node dir/node", "/opt/meridian.js"],
  project: "/home/dev/my shop",
  stateRoot: "/home/dev/my shop/.meridian",
  path: "/usr/bin:/bin",
  digest: "0123456789abcdef",
}

/** As systemd reads a line of quoted words: escapes, then doubled characters. */
const readWords = (line: string): readonly string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word.replaceAll(/\\(.)/g, "$1").replaceAll("%%", "%"),
  )

const lineOf = (content: string, key: string): string =>
  content
    .split("\n")
    .find((line) => line.startsWith(`${key}=`))
    ?.slice(key.length + 1) ?? ""

test("a unit starts this program's supervisor in the project, and its end does not end workers", () => {
  const unit = serviceFile(FACTS)
  expect(unit.path).toBe("/home/dev/.config/systemd/user/meridian-my-shop-01234567.service")
  expect(readWords(lineOf(unit.content, "ExecStart"))).toEqual([
    "/opt/node dir/node",
    "/opt/meridian.js",
    "run",
    "supervise",
    "--stay",
  ])
  expect(lineOf(unit.content, "WorkingDirectory")).toBe("/home/dev/my shop")
  expect(unit.content).toContain('Environment="MERIDIAN_STATE_ROOT=/home/dev/my shop/.meridian"')
  expect(unit.content).toContain("KillMode=process")
  expect(unit.content).toContain("EnvironmentFile=-/home/dev/.config/meridian/service.env")
  expect(unit.start[1]).toBe("systemctl --user enable --now meridian-my-shop-01234567.service")
})

test("characters special to systemd are literal here", () => {
  const project = String.raw`/home/dev/100% "a\b" $HOME`
  const unit = serviceFile({ ...FACTS, project, stateRoot: project, program: [project] })
  // In a command a dollar would begin a variable; elsewhere it is literal.
  expect(readWords(lineOf(unit.content, "ExecStart"))[0]).toBe(project.replace("$", "$$$$"))
  expect(readWords(unit.content)).toContain(`MERIDIAN_STATE_ROOT=${project}`)
  expect(lineOf(unit.content, "WorkingDirectory")).toBe(project.replace("%", "%%"))
  expect(serviceFile({ ...FACTS, project: "/" }).path).toContain("meridian-project-01234567")
})

test("a launchd agent is well-formed whatever the folder's name", () => {
  const agent = serviceFile({ ...FACTS, platform: "darwin", project: "/Users/dev/a & <b>" })
  expect(agent.path).toBe("/home/dev/Library/LaunchAgents/dev.meridian.meridian-a-b-01234567.plist")
  expect(agent.content).toContain("<string>/Users/dev/a &amp; &lt;b&gt;</string>")
  expect(agent.content).toContain("<string>--stay</string>")
  // A comment of XML must not contain two dashes.
  expect(/<!--(.*)-->/.exec(agent.content)?.[1]).not.toContain("--")
})

const openScene = () => {
  const home = mkdtempSync(join(tmpdir(), "service-"))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const project = join(home, "shop")
  mkdirSync(join(project, ".git"), { recursive: true })
  const world = { env: { HOME: home, PATH: "/usr/bin" }, cwd: project, program: ["/node", "/m.js"] as const }
  return {
    world,
    install: (options: { readonly remove?: boolean; readonly platform?: string } = {}) =>
      installService({ remove: false, platform: "linux", ...options }, world),
  }
}

test("installing happens once, updating says so, removing leaves nothing", () => {
  const scene = openScene()
  const first = scene.install()
  expect(first.action).toBe("installed")
  expect(readFileSync(first.path, "utf8")).toContain(MARK)
  expect(scene.install().action).toBe("unchanged")
  writeFileSync(first.path, `# ${MARK}\n`)
  expect(scene.install().action).toBe("updated")
  expect(scene.install({ remove: true })).toMatchObject({
    action: "removed",
    commands: [expect.stringContaining("disable --now")],
  })
  expect(scene.install({ remove: true }).action).toBe("absent")
})

test("a foreign file, a system without either, and an odd folder are reported in words", () => {
  const scene = openScene()
  const { path } = scene.install()
  writeFileSync(path, "[Unit]\n")
  expect(() => scene.install()).toThrow(expect.objectContaining({ code: "SERVICE_NOT_OURS" }))
  expect(() => scene.install({ remove: true })).toThrow(expect.objectContaining({ code: "SERVICE_NOT_OURS" }))
  expect(readFileSync(path, "utf8")).toBe("[Unit]\n")
  expect(() => scene.install({ platform: "win32" })).toThrow(
    "No service can be written: win32 has neither systemd nor launchd.",
  )
  const odd = { ...scene.world, env: { ...scene.world.env, MERIDIAN_REPO_ROOT: "/tmp/a\nExecStart=evil" } }
  expect(() => installService({ remove: false, platform: "linux" }, odd)).toThrow(
    expect.objectContaining({ code: "SERVICE_UNUSABLE" }),
  )
})
