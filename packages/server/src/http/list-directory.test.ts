import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openHttpScene } from "../../../../test/http-scene.ts"

test("folders are listed from the server's project on, hidden ones last, and no file", async () => {
  await using scene = await openHttpScene()
  const { directory } = scene
  for (const name of ["src", ".git", "docs"]) mkdirSync(join(directory, name))
  writeFileSync(join(directory, "secret.txt"), "")
  symlinkSync(join(directory, "secret.txt"), join(directory, "link"))
  const listing = await scene.client.server.directories()
  expect(listing).toEqual({
    path: directory,
    names: ["docs", "src", ".git"],
    isCut: false,
    parent: scene.base,
  })
  expect(await scene.client.server.directories({ path: join(directory, "src") })).toMatchObject({
    names: [],
    parent: directory,
  })
})

test("a folder with very many folders is cut", async () => {
  await using scene = await openHttpScene()
  for (let index = 0; index < 520; index += 1) mkdirSync(join(scene.directory, `folder-${index}`))
  const { names, isCut } = await scene.client.server.directories()
  expect([names.length, isCut]).toEqual([500, true])
})

test.each(["relative", "/no/such/folder", "/etc/hostname", "/\0"])("%j is refused", async (path) => {
  await using scene = await openHttpScene()
  await expect(scene.client.server.directories({ path })).rejects.toMatchObject({
    code: "LOCATION_NOT_FOUND",
    status: 404,
  })
})
