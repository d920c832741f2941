/** `docs/security.md` is true of the code: its tests exist, and its tiers and guarded files are the real ones. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { PERMISSION_TIERS } from "@meridian/spaces"
import { expect, test } from "vitest"

import { permissionRules } from "../packages/cli/src/direct/permission-rules.ts"

const ROOT = join(import.meta.dirname, "..")
const PAGE = readFileSync(join(ROOT, "docs/security.md"), "utf8")

const quoted = [...PAGE.matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text)

test("every test it names exists, and every class of attack is on it", () => {
  const named = quoted.filter((text) => text.endsWith(".test.ts"))
  const pathOf = (name: string): string => join(ROOT, name.includes("/") ? name : `test/attack/${name}`)
  expect(named.filter((name) => !existsSync(pathOf(name)))).toEqual([])
  const attacks = readdirSync(join(ROOT, "test/attack")).filter((name) => name.endsWith(".test.ts"))
  expect(attacks.filter((name) => !name.startsWith("http-") && !named.includes(name))).toEqual([])
})

test("every tier is on it, and every file that is guarded", () => {
  expect(PERMISSION_TIERS.filter((tier) => !quoted.includes(tier))).toEqual([])
  const guarded = permissionRules({ permission: "workspace-write", servers: [] })
    .filter(({ action, effect, resource }) => action === "edit" && effect === "ask" && !/[*/]/.test(resource))
    .map(({ resource }) => resource)
  expect(guarded.length).toBeGreaterThan(5)
  expect(guarded.filter((name) => !quoted.includes(name))).toEqual([])
})

test("it is one page", () => {
  expect(PAGE.split("\n").length).toBeLessThan(100)
})
