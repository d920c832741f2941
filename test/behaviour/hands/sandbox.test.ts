import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openRepositoryScene, type RepositoryScene } from "../../scene/repository.ts"
import {
  configure,
  openSandboxScene,
  testSandbox,
  verifiesSandbox,
  withoutBubblewrap,
} from "../../scene/sandbox.ts"
import { codeOf } from "../../scene/spaces.ts"
import { verifies } from "../../verifies.ts"

const spawn = (
  scene: RepositoryScene,
  does: string,
  values: object = {},
  env: Readonly<Record<string, string>> = {},
) => {
  scene.harness("claude", { answer: "done", does })
  return scene.call(
    "run.spawn",
    { prompt: "do it", harness: "claude", permission: "workspace-write", ...values },
    { env },
  )
}

verifiesSandbox("sandbox.harness", async () => {
  const scene = openSandboxScene()
  const home = scene.env["HOME"] ?? ""
  mkdirSync(join(home, ".ssh"))
  writeFileSync(join(home, ".ssh/id"), "a key")
  const run = await spawn(
    scene,
    "echo new > new.txt; cat ~/.ssh/id > stolen 2>&1; echo x > ~/x; touch .git/hooks/post-checkout; git add new.txt && git commit -q -m work",
    { sandbox: "" },
  )
  expect(run.document).toMatchObject({ status: "succeeded", sandbox: { by: "bubblewrap", network: "on" } })
  expect(scene.read("new.txt")).toBe("new\n")
  expect(scene.read("stolen")).not.toContain("a key")
  expect(existsSync(join(home, "x"))).toBe(false)
  expect(existsSync(join(scene.project, ".git/hooks/post-checkout"))).toBe(false)
  expect(scene.git("log", "-1", "--format=%s")).toBe("work")
  const shown = await scene.call("run.show", { run_id: "r1", space: "s1" })
  expect(shown.text).toContain("Sandbox: bubblewrap, network on\n")
})

verifiesSandbox("sandbox.worktree", async () => {
  const scene = openSandboxScene()
  const before = scene.checkout()
  const main = scene.git("rev-parse", "main")
  const run = await spawn(
    scene,
    `echo new > new.txt; git add new.txt; git commit -q -m work; echo x > ${scene.project}/x; git branch -f main HEAD; git update-ref refs/heads/other HEAD; true`,
    { sandbox: "required", worktree: true, check: ["grep -q new new.txt", "test ! -w $HOME"] },
  )
  expect(run.document).toMatchObject({ status: "succeeded", verdict: "verified" })
  expect(scene.checkout()).toBe(before)
  expect(scene.git("rev-parse", "main")).toBe(main)
  expect(scene.git("branch", "--list", "other")).toBe("")
  await scene.call("run.apply", { run_ids: ["r1"], space: "s1" })
  expect(scene.git("log", "-1", "--format=%s")).toBe("work")
})

verifies("sandbox.absent", async () => {
  const scene = openRepositoryScene()
  const env = withoutBubblewrap(scene)
  expect(await codeOf(spawn(scene, ":", { sandbox: "" }, env))).toBe("SANDBOX_UNAVAILABLE")
  expect(scene.events("s1/runs.jsonl")).toEqual([])
  const run = await spawn(scene, ":", { sandbox: "auto" }, env)
  expect(run.document).toMatchObject({
    status: "succeeded",
    sandbox: { by: "none", why: "bubblewrap (bwrap) is not installed" },
  })
  expect(run.warnings.join("\n")).toContain("SANDBOX_ABSENT")
  const shown = await scene.call("run.show", { run_id: "r1", space: "s1" }, { env })
  expect(shown.text).toContain("Sandbox: none (bubblewrap (bwrap) is not installed)\n")
  const doctor = await scene.call("doctor", {}, { env })
  expect(doctor.document["sandbox"]).toMatchObject({
    usable: false,
    problem: "bubblewrap (bwrap) is not installed",
  })
  expect(doctor.text).toContain("sandbox: none: bubblewrap (bwrap) is not installed")
})

test("a forbidden bubblewrap is reported in its own words", async () => {
  const scene = openRepositoryScene()
  const bin = join(scene.bin, "bwrap")
  writeFileSync(bin, "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1\n", {
    mode: 0o755,
  })
  const doctor = await scene.call("doctor")
  expect(doctor.text).toContain(
    `sandbox: none: ${bin} cannot make one (bwrap: No permissions to create a new namespace)`,
  )
  expect(await codeOf(spawn(scene, ":", { sandbox: "required" }))).toBe("SANDBOX_UNAVAILABLE")
})

verifies("sandbox.configured", async () => {
  const scene = openRepositoryScene()
  const env = withoutBubblewrap(scene)
  mkdirSync(join(scene.project, ".meridian"), { recursive: true })
  const folder = join(scene.project, ".meridian/config.toml")
  // A folder makes it stricter,
  writeFileSync(folder, '[sandbox]\nmode = "required"\n')
  expect(await codeOf(spawn(scene, ":", {}, env))).toBe("SANDBOX_UNAVAILABLE")
  // and never looser.
  configure(scene, '[sandbox]\nmode = "required"\nnetwork = "off"\n')
  writeFileSync(folder, '[sandbox]\nmode = "off"\nnetwork = "on"\nwritable = ["/"]\n')
  expect(await codeOf(spawn(scene, ":", {}, env))).toBe("SANDBOX_NETWORK_NEEDED")
  const shown = await scene.call("config.show", {}, { env })
  expect(shown.text).toMatch(/sandbox\.mode\b.*required/)
  // A person may do so, once; a process inside a run may not.
  expect((await spawn(scene, ":", { sandbox: "off" }, env)).document).toMatchObject({ status: "succeeded" })
  expect(
    await codeOf(spawn(scene, ":", { sandbox: "off" }, { ...env, MERIDIAN_TIER: "workspace-write" })),
  ).toBe("SANDBOX_NETWORK_NEEDED")
})

test("--sandbox-network off is refused for a harness that needs the network for its model", async () => {
  const scene = openRepositoryScene()
  expect(await codeOf(spawn(scene, ":", { sandbox: "auto", sandbox_network: "off" }))).toBe(
    "SANDBOX_NETWORK_NEEDED",
  )
})

testSandbox("a continued run stays in its sandbox", async () => {
  const scene = openSandboxScene()
  await spawn(scene, ":", { sandbox: "" })
  scene.harness("claude", { answer: "done", does: "touch ~/outside; touch inside" })
  const next = await scene.call("run.continue", { run_id: "r1", space: "s1", prompt: "more" })
  expect(next.document).toMatchObject({ sandbox: { by: "bubblewrap" } })
  expect(existsSync(join(scene.env["HOME"] ?? "", "outside"))).toBe(false)
  expect(scene.read("inside")).toBe("")
})

testSandbox("a harness that was never used here makes its own files, and no others", async () => {
  const scene = openSandboxScene()
  const home = scene.env["HOME"] ?? ""
  scene.harness("opencode", {
    answer: "done",
    does: "mkdir -p ~/.local/share/opencode/log; echo x > ~/.local/share/opencode/log/a; mkdir ~/.local/share/other; true",
  })
  const run = await scene.call("run.spawn", { prompt: "do it", harness: "opencode", sandbox: "" })
  expect(run.document).toMatchObject({ status: "succeeded", sandbox: { by: "bubblewrap" } })
  expect(existsSync(join(home, ".local/share/opencode/log/a"))).toBe(true)
  expect(existsSync(join(home, ".local/share/other"))).toBe(false)
  expect(existsSync(join(home, ".claude"))).toBe(false)
})

test("the variable alone does not prove a sandbox", async () => {
  const scene = openRepositoryScene()
  const env = { ...withoutBubblewrap(scene), MERIDIAN_IN_SANDBOX: "on" }
  expect(await codeOf(spawn(scene, ":", { sandbox: "" }, env))).toBe("SANDBOX_UNAVAILABLE")
})
