/** The shipped command with the engine: its commands run in the sandbox, and its file tools stay inside the project. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { directScene } from "../direct-scene.ts"
import { canSandbox, verifiesSandbox } from "../scene/sandbox.ts"
import { document } from "./cli-binary.ts"

verifiesSandbox("sandbox.direct", async () => {
  expect(canSandbox).toBe(true)
  const outside = "echo x > ../outside.txt; touch /usr/outside.txt; cat /proc/net/route | wc -l"
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: `echo in > inside.txt; ls /tmp; ${outside}` } }] },
      { tools: [{ name: "write", input: { path: "../written.txt", content: "x" } }] },
      { text: "Done." },
    ],
  })
  const ran = await scene.run(
    ..."run spawn --harness direct --permission danger -p x --json --sandbox --sandbox-network off".split(
      " ",
    ),
  )
  expect(document(ran)).toMatchObject({
    status: "succeeded",
    sandbox: { by: "bubblewrap", network: "off" },
  })
  expect(readFileSync(join(scene.project, "inside.txt"), "utf8")).toBe("in\n")
  for (const name of ["outside.txt", "written.txt"])
    expect(existsSync(join(scene.project, "..", name))).toBe(false)
  const told = scene.asked().at(-1) ?? ""
  expect(told.includes("cannot touch '/usr/outside.txt': Read-only file system")).toBe(true)
  // The heading of an empty table of routes.
  expect(told.includes("system\\n1\\n")).toBe(true)
})
