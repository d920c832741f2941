/** `meridian questions` lists and answers what agents ask, whichever process runs their session. */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { openEngine } from "@meridian/engine"
import { expect, onTestFinished, test } from "vitest"

import { verifies } from "../verifies.ts"
import { document, emptyFolder, meridian, SEARCH_PATH } from "./cli-binary.ts"

/** A project whose engine is open here, with an agent that requests these commands one after the other. */
const scene = async (commands: readonly string[]) => {
  const project = emptyFolder("questions ")
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  const env = { PATH: SEARCH_PATH, HOME: join(project, "home"), MERIDIAN_REPO_ROOT: project }
  const run = (...words: readonly string[]) => meridian(words, { cwd: project, env })
  await run("init")
  const open = (steps: readonly string[]) =>
    openEngine({
      database: join(project, ".meridian/engine.sqlite"),
      models: [
        {
          id: "script",
          provider: "scripted",
          model: "s",
          contextWindow: 200_000,
          maxOutput: 8_000,
          script: [
            ...steps.map((command) => ({ tools: [{ name: "bash", input: { command } }] })),
            { text: "Done." },
          ],
        },
      ],
      permissions: [],
    })
  const engine = await open(commands)
  const { id: sessionID } = await engine.sessions.create({
    location: { directory: project },
    title: "Tidy\n\u001B[31mup",
  })
  await engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  const asked = async (count: number): Promise<string> => {
    const ids: string[] = []
    for await (const event of engine.sessions.events({ sessionID, follow: true })) {
      if (event.type === "session.next.permission.asked.1") ids.push(event.data.requestID)
      if (ids.length === count) break
    }
    return ids.at(-1) ?? ""
  }
  return { run, project, engine, open, sessionID, asked }
}

verifies("questions.command", async () => {
  const { run, engine, sessionID, asked } = await scene(["echo one > a.txt", "echo two > b.txt"])
  const first = await asked(1)
  const listed = await run("questions", "list")
  expect(listed.stdout).toBe(
    `${first}  Tidy up\n  Allow bash? echo one > a.txt\n  meridian questions answer ${first} once|always|reject\n`,
  )
  expect(document(await run("questions", "list", "--json"))).toMatchObject({
    questions: [
      {
        question_id: first,
        kind: "permission",
        session_id: sessionID,
        answers: ["once", "always", "reject"],
      },
    ],
  })
  expect((await run("questions", "answer", first, "maybe")).stderr).toContain("ERROR [USAGE]")
  expect((await run("questions", "answer", first, "once")).stdout).toBe(`${first}: once\n`)
  const second = await asked(2)
  expect((await run("questions", "answer", first, "once")).stderr).toContain("ERROR [QUESTION_NOT_FOUND]")
  await run("questions", "answer", second, "reject", "--message", "Not that one.")
  await engine.sessions.wait(sessionID)
  const { items } = await engine.sessions.messages({ sessionID })
  expect(JSON.stringify(items)).toContain("Not that one.")
  expect((await run("questions", "list")).stdout).toBe("There are no open questions.\n")
  await engine.close()
})

test("an answer to a closed session takes effect once, when the session is opened", async () => {
  const { run, engine, open, sessionID, asked } = await scene(["echo x >> a.txt"])
  const question = await asked(1)
  await engine.close()
  expect((await run("questions", "list")).stdout).toContain(question)
  expect((await run("questions", "answer", question, "once")).code).toBe(0)
  const again = await open([])
  await again.sessions.wait(sessionID)
  const events: string[] = []
  for await (const event of again.sessions.events({ sessionID })) events.push(event.type)
  expect(events.filter((type) => type.startsWith("session.next.tool.success"))).toHaveLength(1)
  expect((await again.sessions.get(sessionID)).status).toBe("idle")
  await again.close()
})

test("an agent cannot answer for its person", async () => {
  const { run, engine, asked, project } = await scene(["true"])
  const question = await asked(1)
  const { stderr, code } = await meridian(["questions", "answer", question, "once"], {
    cwd: project,
    env: { HOME: join(project, "home"), MERIDIAN_REPO_ROOT: project, MERIDIAN_SPACE_ID: "s1" },
  })
  expect([code, stderr.split(":")[0]]).toEqual([1, "ERROR [TRUST_NEEDS_PERSON]"])
  expect((await run("questions", "list")).stdout).toContain(question)
  await engine.close()
})
