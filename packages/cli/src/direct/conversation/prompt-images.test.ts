import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"

import { expect, onTestFinished, test } from "vitest"

import { imagesIn, MOST_IMAGE_BYTES } from "./prompt-images.ts"

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0])
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0])

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "meridian images "))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "folder.png"))
  writeFileSync(join(folder, "shot.png"), PNG)
  writeFileSync(join(folder, "it's two words.png"), PNG)
  writeFileSync(join(folder, "photo.png"), JPEG)
  writeFileSync(join(folder, "empty.png"), "")
  writeFileSync(join(folder, "words.png"), "not a picture")
  writeFileSync(join(folder, "most.png"), Buffer.concat([PNG, Buffer.alloc(MOST_IMAGE_BYTES - PNG.length)]))
  writeFileSync(join(folder, "large.png"), Buffer.concat([PNG, Buffer.alloc(MOST_IMAGE_BYTES)]))
  execFileSync("mkfifo", [join(folder, "pipe.png")])
  return folder
}

const named = (text: string, directory: string) => {
  const { files, problems } = imagesIn(text, { directory, home: directory })
  return [files.map(({ name }) => name), problems]
}

test("however a person or a terminal writes the path of an image, it is attached once", () => {
  const folder = makeFolder()
  const spaced = join(folder, "it's two words.png")
  for (const text of [
    "Look at @shot.png, and shot.png.",
    `See ${join(folder, "shot.png").replaceAll(" ", "\\ ")}!`,
    `See "${join(folder, "shot.png")}" and '${join(folder, "shot.png")}'`,
    `'tis (shot.png), isn't it?`,
    `${pathToFileURL(join(folder, "shot.png")).href} is it`,
    "~/shot.png",
  ])
    expect([text, ...named(text, folder)]).toEqual([text, ["shot.png"], []])
  for (const text of [
    `"${spaced}"`,
    `@"it's two words.png" please`,
    spaced.replaceAll(/[ ']/g, "\\$&"),
    pathToFileURL(spaced).href,
  ])
    expect([text, ...named(text, folder)]).toEqual([text, [basename(spaced)], []])
})

test("the content of a file decides its type", () => {
  const folder = makeFolder()
  expect(imagesIn("photo.png", { directory: folder, home: undefined }).files).toEqual([
    { mediaType: "image/jpeg", base64: JPEG.toString("base64"), name: "photo.png" },
  ])
})

test("named images that cannot be sent are reported, and names without a file stay words", () => {
  const folder = makeFolder()
  expect(named("missing.png folder.png a.ts file://%zz.png ~other/x.png", folder)).toEqual([[], []])
  expect(named("words.png empty.png pipe.png large.png most.png", folder)).toEqual([
    ["most.png"],
    [
      "words.png is not sent: it is no PNG, JPEG, GIF or WebP.",
      "empty.png is not sent: it is no PNG, JPEG, GIF or WebP.",
      "large.png is not sent: it is larger than 5 MB.",
    ],
  ])
  for (let index = 0; index < 12; index += 1) writeFileSync(join(folder, `n${index}.png`), PNG)
  const [files, problems] = named(Array.from({ length: 12 }, (_, index) => `n${index}.png`).join(" "), folder)
  expect(files).toHaveLength(10)
  expect(problems).toEqual([
    "n10.png is not sent: at most 10 go along with one prompt.",
    "n11.png is not sent: at most 10 go along with one prompt.",
  ])
})
