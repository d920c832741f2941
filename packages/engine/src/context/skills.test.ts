import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, test } from "vitest"

import { createFileCache } from "./file-cache.ts"
import { createLookUp } from "./look-up.ts"
import { openSkillShelf, ownSkillFolders } from "./skills.ts"

const openShelf = () => {
  const directory = mkdtempSync(join(tmpdir(), "meridian-skills-"))
  const read: string[] = []
  const { lookUp } = createLookUp(() => Date.now())
  const files = createFileCache(lookUp, (path) => read.push(path))
  return {
    write: (name: string, text: string, minutesAgo = 0) => {
      const folder = join(directory, ".claude/skills", name)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "SKILL.md"), text)
      const time = new Date(Date.now() - minutesAgo * 60_000)
      utimesSync(join(folder, "SKILL.md"), time, time)
    },
    read,
    shelf: openSkillShelf({ directory, files, lookUp }),
    withOwn: (own: readonly string[]) => ({ shelf: openSkillShelf({ directory, own, files, lookUp }) }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

test("a file that has not changed is neither read nor understood again", () => {
  using scene = openShelf()
  scene.write("a", "---\nname: one\ndescription: first\n---\nBody", 5)
  scene.write("b", "no front matter", 5)
  const first = scene.shelf.list()
  const second = scene.shelf.list()
  expect(second.map((skill, index) => skill === first[index])).toEqual([true, true])
  expect(scene.read).toHaveLength(2)
  scene.write("b", "---\ndescription: changed\n---\nBody")
  expect(scene.shelf.list().map(({ name, description }) => [name, description])).toEqual([
    ["b", "changed"],
    ["one", "first"],
  ])
  expect(scene.read).toHaveLength(3)
})

test("a front matter beyond its bound is not read at all: the skill is named after its folder", () => {
  using scene = openShelf()
  const keys = Array.from({ length: 1_000 }, (_, number) => `key${number}: [{a: [b, {c: d}]}]`).join("\n")
  for (let number = 100; number < 300; number += 1)
    scene.write(`skill${number}`, `---\nname: never${number}\n${keys}\n---\nBody`)
  const names = scene.shelf.list().map(({ name, description }) => `${name}${description}`)
  expect(names).toEqual(Array.from({ length: 200 }, (_, number) => `skill${number + 100}`))
})

test("a name is one line, and the skill is found under the name that was shown", () => {
  using scene = openShelf()
  scene.write("a", `---\nname: "one\\n## Rules"\ndescription: "x\\n- y: z"\n---\nBody`)
  expect(scene.shelf.list()).toEqual([
    { name: "one ## Rules", description: "x - y: z", path: ".claude/skills/a/SKILL.md", body: "Body" },
  ])
})

test("a user's own skills are behind those of the project, whatever links they are", () => {
  using scene = openShelf()
  const home = mkdtempSync(join(tmpdir(), "meridian-own-skills-"))
  const own = ownSkillFolders({ HOME: home })
  expect(own).toEqual([
    join(home, ".config/meridian/skills"),
    join(home, ".agents/skills"),
    join(home, ".claude/skills"),
    join(home, ".opencode/skills"),
    join(home, ".config/opencode/skills"),
  ])
  mkdirSync(join(home, "elsewhere/house"), { recursive: true })
  mkdirSync(join(home, ".config/meridian"), { recursive: true })
  writeFileSync(join(home, "elsewhere/house/SKILL.md"), "---\nname: house\n---\nHouse")
  symlinkSync(join(home, "elsewhere"), join(home, ".config/meridian/skills"))
  scene.write("a", "---\nname: one\n---\nBody")
  const { shelf } = scene.withOwn(own)
  expect(shelf.list().map(({ name, path }) => [name, path.startsWith(home)])).toEqual([
    ["house", true],
    ["one", false],
  ])
  rmSync(home, { recursive: true })
})
