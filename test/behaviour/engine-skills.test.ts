/** Row 5 of the parity table: which skills and rules a session has, anywhere in the project. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { expect } from "vitest"

import { ALLOW_ALL, openEngineScene, shown, type Answer } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const skill = (name: string, says: string): string =>
  `---\nname: ${name}\ndescription: ${says}\n---\nBody of ${name}: ${says}\n`

const openProject = async (answers: readonly Answer[], denied?: string) => {
  const scene = await openEngineScene(answers, {
    permissions: [
      ...ALLOW_ALL,
      ...(denied === undefined ? [] : [{ action: "skill", resource: denied, effect: "deny" } as const]),
    ],
  })
  const root = scene.directory
  mkdirSync(join(root, ".git"))
  write(join(root, ".claude/skills/far/SKILL.md"), skill("far", "from the root"))
  write(join(root, ".meridian/skills/both/SKILL.md"), skill("both", "the far one"))
  write(join(root, "packages/inner/.claude/skills/both/SKILL.md"), skill("both", "the near one"))
  write(join(root, ".meridian/rules/tabs.md"), "Indent with tabs, says the root.\n")
  const sessionID = "ses_inner"
  await scene.engine.sessions.create({ id: sessionID, location: { directory: join(root, "packages/inner") } })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await scene.engine.sessions.wait(sessionID)
  return scene
}

const system = (scene: Awaited<ReturnType<typeof openProject>>): string =>
  (scene.requests[0]?.prompt ?? [])
    .flatMap((message) => (message.role === "system" ? [message.content] : []))
    .join("\n")

verifies("skills.project-root", async () => {
  await using scene = await openProject([{ tools: [{ name: "skill", input: { name: "far" } }] }])
  const told = system(scene)
  expect(told).toContain("- far: from the root")
  expect(told).toContain("- both: the near one")
  expect(told).not.toContain("the far one")
  expect(told).toContain("Indent with tabs, says the root.")
  expect(shown(scene.requests[1]).at(-1)).toMatch(
    /^result: Skill far \(\.\.\/\.\.\/\.claude\/skills\/far\/SKILL\.md\):\n\nBody of far/,
  )
})

verifies(
  "skills.project-root",
  async () => {
    await using scene = await openProject(
      [
        {
          tools: [
            { name: "skill", input: { name: "farr" } },
            { name: "skill", input: { name: "far" } },
          ],
        },
      ],
      "far",
    )
    expect(system(scene)).not.toContain("far: from the root")
    const [missing = "", denied = ""] = shown(scene.requests[1]).filter((line) => line.startsWith("result:"))
    expect(missing).toMatch(/There is no skill "farr"\. Those you were told about/)
    expect(denied).not.toContain("Body of far")
  },
  "denied ones are absent",
)
