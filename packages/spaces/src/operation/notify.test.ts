import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Facts } from "@meridian/protocol"
import { expect, test } from "vitest"

import type { WarningCode } from "../domain/warning.ts"
import { notify, type Notice } from "./notify.ts"

/** A program that records what it was given. */
const openScene = (body: string) => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-notify-"))
  const program = join(folder, "tell me")
  writeFileSync(program, `#!/bin/sh\n${body}\n`)
  chmodSync(program, 0o755)
  const warned: (readonly [WarningCode, Facts | undefined])[] = []
  return {
    program,
    warned,
    told: () => readFileSync(join(folder, "told"), "utf8"),
    world: {
      env: { PATH: "/usr/bin:/bin", FOLDER: folder },
      cwd: folder,
      warn: (code: WarningCode, facts?: Facts) => void warned.push([code, facts]),
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const WRITES = `printf '%s\\n' "$#" "$@" "$MERIDIAN_NOTIFY_EVENT" "$MERIDIAN_NOTIFY_RUN" "\${MERIDIAN_NOTIFY_SPACE-none}" > "$FOLDER/told"`
const notice = (message: string): Notice => ({
  event: "ended",
  message,
  facts: { run: "r1", space: undefined },
})

test("the program gets its own words, then the message, and the facts in variables", async () => {
  using scene = openScene(WRITES)
  await notify([scene.program, "-a", "two words"], notice("Run r1 succeeded: mend it"), scene.world)
  expect([scene.told(), scene.warned]).toEqual([
    "3\n-a\ntwo words\nRun r1 succeeded: mend it\nended\nr1\nnone\n",
    [],
  ])
})

test("text from others reaches it as one plain line", async () => {
  using scene = openScene(WRITES)
  await notify([scene.program], notice("Run r1 failed: \u001b[31mred\nand $(touch x)\u0000"), scene.world)
  expect(scene.told().split("\n")[1]).toMatch(/^Run r1 failed: \P{Cc}*and \$\(touch x\)/u)
})

test("without a command nothing happens", async () => {
  using scene = openScene(WRITES)
  await notify([], notice("x"), scene.world)
  expect(scene.told).toThrow("ENOENT")
})

test("a program that fails is a warning", async () => {
  using scene = openScene("exit 3")
  await notify([scene.program], notice("x"), scene.world)
  expect(scene.warned).toEqual([["NOTIFY_FAILED", { program: scene.program, why: "it ended with 3" }]])
})

test("a missing program is a warning", async () => {
  using scene = openScene("")
  await notify(["/none/such"], notice("x"), scene.world)
  expect(scene.warned).toEqual([["NOTIFY_FAILED", { program: "/none/such", why: "spawn /none/such ENOENT" }]])
})
