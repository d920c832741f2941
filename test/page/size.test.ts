import { readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"

import { expect, test } from "vitest"

import { PAGE_DIRECTORY } from "./page-scene.ts"

test("the whole page is smaller than 150 KB gzipped and names no other server", () => {
  const files = readdirSync(PAGE_DIRECTORY).map((name) => readFileSync(`${PAGE_DIRECTORY}${name}`))
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0)
  expect(files).toHaveLength(3)
  expect(bytes).toBeLessThan(150_000)
  const addresses = files.flatMap((file) => file.toString().match(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g) ?? [])
  // The client brings addresses and types; the shapes stay on the server.
  expect(files.some((file) => file.includes("strict_object"))).toBe(false)
  expect(addresses.filter((address) => !address.includes("www.w3.org"))).toEqual([])
})
