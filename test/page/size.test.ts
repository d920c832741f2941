import { readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"

import { expect, test } from "vitest"

import { PAGE_DIRECTORY } from "./page-scene.ts"

test("what is loaded before the first paint is smaller than 100 KB compressed, and the page names no other server", () => {
  const names = readdirSync(PAGE_DIRECTORY)
  const read = (name: string): Buffer => readFileSync(`${PAGE_DIRECTORY}${name}`)
  const first = ["index.html", "page.css", "page.js"]
  expect(names.toSorted()).toEqual(
    [
      ...first,
      "icon-192.png",
      "icon-512.png",
      "icon.svg",
      "manifest.webmanifest",
      "THIRD-PARTY-NOTICES.txt",
    ].toSorted(),
  )
  expect(first.reduce((sum, name) => sum + gzipSync(read(name)).length, 0)).toBeLessThan(100_000)
  const files = first.map(read)
  const addresses = files.flatMap((file) => file.toString().match(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g) ?? [])
  // The client brings addresses and types. The shapes stay on the server.
  expect(files.some((file) => file.includes("strict_object"))).toBe(false)
  // XML namespaces, and the address for bugs of the Markdown library. Neither is ever loaded.
  expect(addresses.filter((address) => !/www\.w3\.org|github\.com/.test(address))).toEqual([])
})
