/** `meridian permissions`: permanent approvals of a person, listed and revoked by the command. */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import { expect, onTestFinished, test } from "vitest"

import { verifies } from "../verifies.ts"
import { document, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"

/** A project whose database holds two saved approvals. */
const scene = async () => {
  const project = emptyFolder("permissions ")
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  const env = { PATH: SEARCH_PATH, HOME: join(project, "home"), MERIDIAN_REPO_ROOT: project }
  const run = (...words: readonly string[]) => meridian(words, { cwd: project, env })
  await run("init")
  const database = join(project, ".meridian/engine.sqlite")
  const bash = (command: string) => ({ tools: [{ name: "bash", input: { command } }] })
  const engine = await openEngine({
    database,
    models: [
      {
        id: "script",
        provider: "scripted",
        model: "s",
        contextWindow: 200_000,
        maxOutput: 8_000,
        script: [bash("echo 'a *'"), bash("true"), { text: "x" }],
      },
    ],
    permissions: [],
  })
  const { id: sessionID } = await engine.sessions.create({ location: { directory: project } })
  await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  let answered = 0
  for await (const event of engine.sessions.events({ sessionID, follow: true })) {
    if (event.type === "session.next.permission.asked.1") {
      await engine.permissions.reply({ requestID: event.data.requestID, reply: "always" })
      answered += 1
    }
    if (answered === 2) break
  }
  await engine.sessions.wait(sessionID)
  await engine.close()
  return { run, project, sessionID, env }
}

verifies("permissions.command", async () => {
  const { run, project, sessionID } = await scene()
  const listed = await run("permissions", "list")
  expect(listed.stdout).toMatch(/^apr_\w+ {2}bash {2}echo 'a \*' {2}.*\napr_\w+ {2}bash {2}true {2}.*\n$/)
  const [first = ""] = listed.stdout.split(" ")
  expect(document(await run("permissions", "list", "--json"))).toMatchObject({
    permissions: [
      {
        permission_id: first,
        action: "bash",
        resource: "echo 'a *'",
        directory: project,
        session_id: sessionID,
      },
      { action: "bash", resource: "true" },
    ],
  })
  expect((await run("permissions", "revoke", first)).stdout).toBe(`revoked: ${first}\n`)
  expect((await run("permissions", "revoke", first)).stderr).toContain("ERROR [APPROVAL_NOT_FOUND]")
  expect((await run("permissions", "revoke", "--all")).code).toBe(0)
  expect((await run("permissions", "list")).stdout).toBe("Nothing is allowed for good.\n")
})

test("revoke needs ids, and changes nothing if one id is unknown", async () => {
  const { run } = await scene()
  expect((await run("permissions", "revoke")).code).toBe(2)
  expect((await run("permissions", "revoke", "--all", "apr_0")).code).toBe(2)
  const before = (await run("permissions", "list")).stdout
  const id = before.split(" ")[0] ?? ""
  expect((await run("permissions", "revoke", id, "apr_0")).stderr).toContain("APPROVAL_NOT_FOUND")
  expect((await run("permissions", "list")).stdout).toBe(before)
})

test("an agent cannot take back what a person allowed", async () => {
  const { run, project, env } = await scene()
  const asAgent = await meridian(["permissions", "revoke", "--all"], {
    cwd: project,
    env: { ...env, MERIDIAN_SPACE_ID: "s1" },
  })
  expect(asAgent.stderr).toContain("TRUST_NEEDS_PERSON")
  expect((await run("permissions", "list")).stdout).not.toContain("Nothing")
})
