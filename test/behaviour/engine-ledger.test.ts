/** What our engine is told after a compaction: the same pinned part as the hosts, from its own events. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { Reply } from "@meridian/engine"
import { expect } from "vitest"

import { openEngineScene, type Answer, type EngineScene } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const call = (text: string, name: string, input: Readonly<Record<string, string>>): Reply => ({
  text,
  tools: [{ name, input: { ...input } }],
})

const WORK: readonly Answer[] = [
  call("Decision: the store is quokka-db.", "skill", { name: "merge" }),
  call("Decision: logs go to stint-30.", "read", { path: "src/app.ts" }),
  call("Decision (withdrawn): logs go to stint-30.", "bash", {
    command: "echo r7 # meridian run spawn -p review",
  }),
  { text: "Blocker: waiting for the lynx-5 key." },
  { text: "Yes." },
  { text: "Nothing worth keeping." },
  { text: "Going on." },
]

const write = (scene: EngineScene, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(scene.directory, path)), { recursive: true })
    writeFileSync(join(scene.directory, path), text)
  }
}

const ask = async ({ engine, session }: EngineScene, text: string): Promise<void> => {
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text } })
  await engine.sessions.wait(session.id)
}

/** The pinned part of the newest request. */
const pinnedIn = ({ requests }: EngineScene): string => {
  const texts = textsIn(requests.at(-1)).filter((text) => text.includes("## Stage-Aware Continuation"))
  const text = texts.at(-1) ?? ""
  return text.slice(text.indexOf("## Stage-Aware Continuation"))
}

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

verifies("engine.ledger", async () => {
  await using scene = await openEngineScene(WORK)
  write(scene, {
    "src/app.ts": "export {}\n",
    ".meridian/skills/merge/SKILL.md": "---\nname: merge\ndescription: d\n---\nSay whimbrel first.\n",
    ".meridian/.spaces/s1/runs.jsonl": `${JSON.stringify({ v: 1, event: "start", id: "r7", status: "running" })}\n`,
  })
  await ask(scene, "Move the service to port 8080.\nNever touch the billing tables.")
  await ask(scene, "Use port 9090 instead.")
  await scene.engine.sessions.compact(scene.session.id)
  await ask(scene, "Go on.")
  // Without a state folder an engine knows only the runs that it saw.
  expect(pinnedIn(scene)).toBe(`## Stage-Aware Continuation
Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity.

## Task
> Move the service to port 8080.
> Never touch the billing tables.

## Task, as Changed Since
- Use port 9090 instead.

## Agent and Skills
- Skill: merge

## Decisions
- the store is quokka-db.

## Blockers / Risks
- waiting for the lynx-5 key.

## Latest Request of the User
> Use port 9090 instead.

## Runs
- r7: state unknown — echo r7 # meridian run spawn -p review

## Active Files
- src/app.ts

## Skill: merge

Say whimbrel first.`)
})

verifies(
  "engine.ledger",
  async () => {
    await using scene = await openEngineScene(WORK)
    const stateRoot = join(scene.directory, ".meridian")
    write(scene, {
      ".meridian/.spaces/s1/runs.jsonl": `${JSON.stringify({ v: 1, event: "start", id: "r7", status: "running" })}\n`,
    })
    const engine = await scene.reopen({ stateRoot })
    await ask(scene, "Move the service.")
    await ask(scene, "Is it done?")
    await engine.sessions.compact(scene.session.id)
    await ask(scene, "Go on.")
    expect(pinnedIn(scene)).toContain("## Runs\n- r7 in s1: running\n")
  },
  "with a state folder it asks the run table",
)

verifies("engine.rule-folders", async () => {
  await using scene = await openEngineScene()
  write(scene, {
    ".claude/rules/a.md": "Rule of Claude's folder.",
    ".opencode/rules/b.md": "Rule of OpenCode's folder.",
    ".meridian/rules/c.md": "Rule of our folder.",
    ".meridian/rules/d.md": "---\nglobs: src/**/*.ts\n---\nRule of a file that is not there yet.",
    ".meridian/rules/e.md": "---\nglobs: lib/**/*.ts\n---\nRule of other files.",
  })
  await ask(scene, "create src/new/x.ts")
  const asked = textsIn(scene.requests.at(-1)).join("\n")
  for (const whose of ["Claude's", "OpenCode's", "our"]) expect(asked).toContain(`Rule of ${whose} folder.`)
  expect(asked).toContain("Rule of a file that is not there yet.")
  expect(asked).not.toContain("Rule of other files.")
})
