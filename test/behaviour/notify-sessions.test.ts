/** The page's sessions call the user's program when they ask, and when they are done. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { noticeOf, notifySessions } from "../../packages/cli/src/notify-sessions.ts"
import { openEngineScene, tool, untilEvent } from "../engine-scene.ts"

const SESSION = { id: "ses_1", title: "Mend\nit" }

test.each([
  [undefined, "running", undefined],
  [undefined, "idle", undefined],
  ["idle", "idle", undefined],
  ["running", "idle", "Mend it is done"],
  ["running", "failed", "Mend it ended: failed"],
  ["running", "interrupted", "Mend it ended: interrupted"],
  ["waiting", "idle", "Mend it is done"],
  ["waiting", "running", undefined],
  ["running", "waiting", "Mend it asks: edit a.ts"],
  [undefined, "waiting", "Mend it asks: edit a.ts"],
] as const)("from %s to %s says %s", (before, status, message) => {
  expect(noticeOf({ ...SESSION, status }, before, "edit a.ts")?.message).toBe(message)
})

test("a session that asks and then goes on is told twice, in order", async () => {
  await using scene = await openEngineScene([{ tools: [{ name: "act" }] }, { text: "Done." }], {
    permissions: [{ action: "*", resource: "*", effect: "ask" }],
    tools: [tool("act", () => "acted")],
  })
  const { engine, directory } = scene
  const told = join(directory, "told")
  const program = join(directory, "tell")
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s %s\\n' "$MERIDIAN_NOTIFY_EVENT" "$MERIDIAN_NOTIFY_SESSION" >> ${told}\n`,
  )
  chmodSync(program, 0o755)
  const lines = (): string => (existsSync(told) ? readFileSync(told, "utf8") : "")
  const until = async (count: number): Promise<void> => {
    while (lines().split("\n").length <= count) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const world = { env: { PATH: "/usr/bin:/bin" }, cwd: directory, warn: () => undefined }
  const telling = notifySessions(engine, [program], world)
  await engine.sessions.prompt({ sessionID: "ses_test", prompt: { text: "go" } })
  await untilEvent(engine, "permission.asked")
  await until(1)
  const [asked] = await engine.permissions.list({ sessionID: "ses_test" })
  await engine.permissions.reply({ requestID: asked?.id ?? "", reply: "once" })
  await engine.sessions.wait("ses_test")
  await until(2)
  expect(lines()).toBe("asks ses_test\nended ses_test\n")
  await engine.close()
  await telling
})
