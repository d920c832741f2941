import { mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openWorkspace } from "../../../../test/tool-scene.ts"
import { verifies } from "../../../../test/verifies.ts"
import { ToolError } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { resolveInside, resolvePath } from "./resolve-path.ts"

test("a path resolves from the working directory and is named from the project's root", async () => {
  await using space = await openWorkspace()
  await mkdir(join(space.root, "app/src"), { recursive: true })
  const place = { root: space.root, directory: join(space.root, "app") }
  expect(await resolvePath(place, "src/../src/new/file.ts")).toEqual({
    named: "src/../src/new/file.ts",
    absolute: join(space.root, "app/src/new/file.ts"),
    resource: "app/src/new/file.ts",
    fromHere: "src/new/file.ts",
    external: false,
  })
  expect(await resolvePath(place, "..")).toMatchObject({ resource: ".", fromHere: "..", external: false })
})

test.each([
  ["..", "dot dot"],
  ["a/../../outside", "dot dot through a name"],
  ["link/secret", "a link to a directory"],
  ["dangling", "a link to a file that does not exist yet"],
  ["chain", "a link to a link that leaves"],
  ["/etc/hostname", "an absolute path"],
])("%s is seen as outside (%s)", async (named) => {
  await using space = await openWorkspace()
  await mkdir(join(space.base, "outside"))
  await symlink("../outside", join(space.root, "link"))
  await symlink("../outside/missing/file", join(space.root, "dangling"))
  await symlink("dangling", join(space.root, "chain"))
  const resolved = await resolvePath(space, named)
  expect(resolved.external).toBe(true)
  expect(resolved.resource).toBe(resolved.absolute)
  await expect(resolveInside(space, named)).rejects.toThrow(ToolError)
})

test("a sibling whose name starts with the project's name is outside", async () => {
  await using space = await openWorkspace()
  expect(await resolvePath(space, "../project-two/file")).toMatchObject({ external: true })
  expect(await resolvePath(space, "..name/file")).toMatchObject({ external: false, resource: "..name/file" })
})

verifies(
  "tools.read.canonical-resource",
  async () => {
    await using space = await openWorkspace()
    await writeFile(join(space.root, "real.txt"), "")
    await symlink("real.txt", join(space.root, "link.txt"))
    expect(await resolveInside(space, "link.txt")).toMatchObject({ resource: "real.txt" })
  },
  "a link inside the project is named after what it leads to",
)

verifies(
  "tools.read.stays-inside",
  async () => {
    await using space = await openWorkspace()
    await expect(resolveInside(space, join(space.root, "a.txt"))).rejects.toMatchObject({ code: "denied" })
  },
  "read refuses an absolute path even inside the project",
)

test("a loop of links is refused", async () => {
  await using space = await openWorkspace()
  await symlink("two", join(space.root, "one"))
  await symlink("one", join(space.root, "two"))
  await expect(resolvePath(space, "one")).rejects.toThrow(/loop of links/)
})

test.each([
  ["a\0b", /NUL/],
  ["x".repeat(TOOL_LIMITS.segmentBytes + 1), /too long/],
  ["ab/".repeat(TOOL_LIMITS.pathBytes / 3), /too long/],
])("a name no file can have is refused (%#)", async (named, message) => {
  await using space = await openWorkspace()
  await expect(resolvePath(space, named)).rejects.toThrow(message)
})

test("a name at the bound is accepted", async () => {
  await using space = await openWorkspace()
  const named = "x".repeat(TOOL_LIMITS.segmentBytes)
  expect(await resolvePath(space, named)).toMatchObject({ resource: named })
})
