/**
 * Tests of what a sandbox holds back. On a machine without one, the same test proves that Meridian refuses the sandbox
 * instead of promising it. `tools/install-bubblewrap.sh` installs one; `.ci/run` calls it.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"

import { expect, test } from "vitest"

import type { BehaviourId } from "../behaviours.ts"
import { verifies } from "../verifies.ts"
import { openRepositoryScene, type RepositoryScene } from "./repository.ts"
import { codeOf, openScene, type Scene } from "./spaces.ts"

/** Tries bubblewrap as the product does, without the product's code. */
export const canSandbox =
  spawnSync(
    "bwrap",
    "--unshare-user --unshare-pid --unshare-net --ro-bind / / --dev /dev --proc /proc sh -c :".split(" "),
  ).status === 0

export const verifiesSandbox = (id: BehaviourId, body: () => Promise<void>): void =>
  verifies(id, canSandbox ? body : refuses, canSandbox ? "" : "refused, since this machine makes no sandbox")

export const testSandbox = (says: string, body: () => Promise<void>): void => {
  // oxlint-disable-next-line vitest/valid-title -- handed on
  test(canSandbox ? says : `${says}: refused, since this machine makes none`, canSandbox ? body : refuses)
}

const refuses = async (): Promise<void> => {
  const scene = openScene()
  scene.harness("claude", { answer: "done" })
  const refused = scene.call("run.spawn", { prompt: "do it", harness: "claude", sandbox: "" })
  expect(await codeOf(refused)).toBe("SANDBOX_UNAVAILABLE")
  scene.close()
}

/** A PATH with everything but bubblewrap. */
export const withoutBubblewrap = (scene: Scene): Readonly<Record<string, string>> => {
  const bin = join(scene.bin, "..", "without")
  mkdirSync(bin)
  for (const folder of (scene.env["PATH"] ?? "").split(delimiter))
    for (const name of namesIn(folder)) {
      try {
        if (name !== "bwrap") symlinkSync(join(folder, name), join(bin, name))
      } catch {
        // The first folder with a name wins, as on PATH.
      }
    }
  return { PATH: [scene.bin, bin].join(delimiter) }
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The pretend harnesses write their calls to a file in their own folder, so the user makes that folder writable. */
export const openSandboxScene = (more = ""): RepositoryScene => {
  const scene = openRepositoryScene()
  configure(scene, `[sandbox]\nwritable = ["${scene.bin}"]\n${more}`)
  return scene
}

/** Writes the user's own configuration. */
export const configure = (scene: Scene, toml: string): void => {
  const folder = join(scene.env["HOME"] ?? "", ".config/meridian")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "config.toml"), toml)
}
