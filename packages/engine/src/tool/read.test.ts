import { execFileSync } from "node:child_process"
import { chmod, mkdir, open, rename, symlink, truncate, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"

import { expect, test } from "vitest"

import { openScene, openWorkspace, textOf } from "../../../../test/tool-scene.ts"
import { verifies } from "../../../../test/verifies.ts"
import { boundOutput } from "./bound-output.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { readTool } from "./read.ts"

test("a small file comes back exactly as it is", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "a.txt"), "one\r\ntwo\n\nlast without end")
  const scene = openScene()
  const output = await readTool(space).execute({ path: "./a.txt" }, scene)
  expect(output).toEqual({
    content: [{ type: "text", text: "one\r\ntwo\n\nlast without end" }],
    structured: { type: "text", path: "a.txt", offset: 1, lines: 4 },
  })
  expect(scene.questions).toEqual([{ action: "read", resources: ["a.txt"], title: "Read a.txt" }])
})

verifies(
  "tools.read.pages-text",
  async () => {
    await using space = await openWorkspace()
    const whole = Array.from({ length: 4321 }, (_, at) => `line ${at + 1} ${"é".repeat(at % 40)}\n`).join("")
    await writeFile(join(space.root, "long.txt"), whole)
    const pages: string[] = []
    for (let offset: number | undefined = 1; offset !== undefined;) {
      const text = textOf(await readTool(space).execute({ path: "long.txt", offset }, openScene()))
      const next = /\n\(lines .* continue with offset (\d+)\)$/.exec(text)
      pages.push(text.slice(0, next?.index))
      offset = next === null ? undefined : Number(next[1])
    }
    expect(pages.every((page) => page.split("\n").length <= TOOL_LIMITS.readLines + 1)).toBe(true)
    expect(pages.join("")).toBe(whole)
    expect(pages.every((page) => Buffer.byteLength(page) <= TOOL_LIMITS.readBytes)).toBe(true)
  },
  "pages join to the whole file",
)

test("a page of exactly the bound does not count as cut, one more line does", async () => {
  await using space = await openWorkspace()
  const lines = (count: number) => "x\n".repeat(count)
  await writeFile(join(space.root, "at.txt"), lines(TOOL_LIMITS.readLines))
  await writeFile(join(space.root, "over.txt"), lines(TOOL_LIMITS.readLines + 1))
  expect(textOf(await readTool(space).execute({ path: "at.txt" }, openScene()))).toBe(
    lines(TOOL_LIMITS.readLines),
  )
  const over = await readTool(space).execute({ path: "over.txt" }, openScene())
  expect(over.structured).toMatchObject({ lines: TOOL_LIMITS.readLines, next: TOOL_LIMITS.readLines + 1 })
  expect(textOf(await readTool(space).execute({ path: "over.txt", offset: 2001 }, openScene()))).toBe("x\n")
})

test("a line longer than the bound is cut, without tearing a character", async () => {
  await using space = await openWorkspace()
  const at = "a".repeat(TOOL_LIMITS.readLineCharacters)
  await writeFile(join(space.root, "at.txt"), `${at}\r\n`)
  await writeFile(join(space.root, "over.txt"), `${at.slice(1)}😀tail\nnext\n`)
  expect(textOf(await readTool(space).execute({ path: "at.txt" }, openScene()))).toBe(`${at}\r\n`)
  const text = textOf(await readTool(space).execute({ path: "over.txt" }, openScene()))
  expect(text.startsWith(`${at.slice(1)}... (line cut)\nnext\n`)).toBe(true)
})

test("an offset beyond the end and an empty file are reported", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "a.txt"), "one\ntwo\n")
  await writeFile(join(space.root, "empty"), "")
  await expect(readTool(space).execute({ path: "a.txt", offset: 3 }, openScene())).rejects.toThrow(
    /the file has 2 lines/,
  )
  expect(textOf(await readTool(space).execute({ path: "empty" }, openScene()))).toBe("(empty file)")
})

test("a byte order mark is not part of the text", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "bom.txt"), "\uFEFFone\n")
  expect(textOf(await readTool(space).execute({ path: "bom.txt" }, openScene()))).toBe("one\n")
})

verifies(
  "tools.read.binary",
  async () => {
    await using space = await openWorkspace()
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
    await writeFile(join(space.root, "picture.txt"), png)
    await writeFile(join(space.root, "latin1.txt"), Buffer.from([0x67, 0x72, 0xfc, 0x6e]))
    await writeFile(join(space.root, "zero.bin"), Buffer.from([1, 0, 2]))
    const read = async (path: string) => (await readTool(space).execute({ path }, openScene())).content[1]
    expect(await read("picture.txt")).toEqual({
      type: "media",
      mediaType: "image/png",
      base64: png.toString("base64"),
    })
    expect(await read("latin1.txt")).toMatchObject({ mediaType: "application/octet-stream" })
    expect(await read("zero.bin")).toMatchObject({ base64: "AQAC" })
  },
  "binary and pictures come as base64, by content and not by name",
)

test("a sparse file of 10 GB is refused at once, a text file of that size gives its first page", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "sparse"), "")
  await truncate(join(space.root, "sparse"), 10_000_000_000)
  await expect(readTool(space).execute({ path: "sparse" }, openScene())).rejects.toThrow(/10000000000 bytes/)
  await writeFile(join(space.root, "log"), "line\n".repeat(20_000))
  await truncate(join(space.root, "log"), 10_000_000_000)
  const page = await readTool(space).execute({ path: "log" }, openScene())
  expect(page.structured).toMatchObject({ lines: 2000, next: 2001 })
  await expect(readTool(space).execute({ path: "log", offset: 50_000 }, openScene())).rejects.toThrow(
    /too far inside/,
  )
})

verifies(
  "tools.read.directory",
  async () => {
    await using space = await openWorkspace()
    for (const name of ["b", "a"]) await mkdir(join(space.root, name))
    for (const name of ["z.txt", ".hidden", "m.txt"]) await writeFile(join(space.root, name), "")
    await symlink("..", join(space.root, "up"))
    const scene = openScene()
    const first = await readTool(space).execute({ path: ".", limit: 3 }, scene)
    expect(textOf(first)).toBe("a/\nb/\n.hidden\n(entries 1-3 of 6; continue with offset 4)")
    expect(first.structured).toMatchObject({ next: 4, total: 6 })
    const second = await readTool(space).execute({ path: ".", offset: 4 }, openScene())
    expect(textOf(second)).toBe("m.txt\nup@\nz.txt")
    expect(second.structured).not.toHaveProperty("next")
    expect(scene.questions[0]?.resources).toEqual(["."])
  },
  "a directory lists directories first, alphabetically, in pages",
)

test("pipes, devices and sockets are refused without waiting for them", async () => {
  await using space = await openWorkspace()
  execFileSync("mkfifo", [join(space.root, "pipe")])
  const server = createServer().listen(join(space.root, "socket"))
  try {
    await expect(readTool(space).execute({ path: "pipe" }, openScene())).rejects.toThrow(/not a regular file/)
    await expect(readTool(space).execute({ path: "socket" }, openScene())).rejects.toThrow(
      /not a regular file/,
    )
    await expect(
      readTool({ root: "/", directory: "/", outputDirectory: "/nowhere" }).execute(
        { path: "dev/zero" },
        openScene(),
      ),
    ).rejects.toThrow(/not a regular file/)
  } finally {
    server.close()
  }
})

test("a missing file is reported with a similar name", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "readme.md"), "")
  await expect(readTool(space).execute({ path: "README.me" }, openScene())).rejects.toMatchObject({
    code: "not-found",
    message: '"README.me" does not exist. There is "readme.md" beside it.',
  })
})

test("a refusal comes before the file is read, in the words of the person who refused", async () => {
  await using space = await openWorkspace()
  const refused = new Error("ask me about .env first")
  const scene = openScene({
    ask: () => {
      throw refused
    },
  })
  await expect(readTool(space).execute({ path: "missing" }, scene)).rejects.toBe(refused)
})

verifies(
  "tools.read.stays-inside",
  async () => {
    await using space = await openWorkspace()
    await mkdir(join(space.root, "safe"))
    await writeFile(join(space.root, "safe/key"), "inside")
    await mkdir(join(space.base, "outside"))
    await writeFile(join(space.base, "outside/key"), "secret")
    const scene = openScene({
      ask: async () => {
        await rename(join(space.root, "safe"), join(space.root, "moved"))
        await symlink("../outside", join(space.root, "safe"))
      },
    })
    await expect(readTool(space).execute({ path: "safe/key" }, scene)).rejects.toThrow(/replaced by a link/)
  },
  "a directory swapped for a link while permission is asked is not followed",
)

test("a file swapped for a link while permission is asked is not followed", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "key"), "inside")
  await writeFile(join(space.base, "secret"), "secret")
  const scene = openScene({
    ask: async () => {
      await rename(join(space.root, "key"), join(space.root, "moved"))
      await symlink("../secret", join(space.root, "key"))
    },
  })
  await expect(readTool(space).execute({ path: "key" }, scene)).rejects.toThrow(/is a link/)
})

test("an aborted call does not read", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "a.txt"), "x")
  await expect(
    readTool(space).execute({ path: "a.txt" }, openScene({ signal: AbortSignal.abort() })),
  ).rejects.toMatchObject({ code: "interrupted" })
})

test.each([
  [{}, /`path` is missing/],
  [{ path: 7 }, /`path` must be text that is not empty, not a/],
  [{ path: "a", offset: 0 }, /`offset` must be a whole number from 1/],
  ["a.txt", /must be an object/],
])("a wrong input is named (%#)", async (input, message) => {
  await using space = await openWorkspace()
  await expect(readTool(space).execute(input, openScene())).rejects.toThrow(message)
})

test("a file that the system forbids is reported as such", async () => {
  await using space = await openWorkspace()
  await writeFile(join(space.root, "closed"), "x")
  await chmod(join(space.root, "closed"), 0)
  const allowed = await open(join(space.root, "closed")).then(
    (handle) => handle.close().then(() => true),
    () => false,
  )
  const outcome = await readTool(space)
    .execute({ path: "closed" }, openScene())
    .then(textOf, (error: unknown) => String(error))
  // Root may read everything. Then the test only checks that nothing else went wrong.
  expect(outcome).toMatch(allowed ? /^x$/ : /permission denied by the system/)
})

verifies(
  "tools.read.references",
  async () => {
    await using space = await openWorkspace()
    await mkdir(join(space.base, "library/docs"), { recursive: true })
    await writeFile(join(space.base, "library/docs/a.md"), "from the library\n")
    await symlink("../secret", join(space.base, "library/escape"))
    const read = readTool({ ...space, references: [{ name: "lib", path: join(space.base, "library") }] })
    const scene = openScene()
    expect(textOf(await read.execute({ reference: "lib", path: "docs/a.md" }, scene))).toBe(
      "from the library\n",
    )
    expect(scene.questions.map(({ action, resources }) => [action, resources])).toEqual([
      ["read", [join(space.base, "library/docs/a.md")]],
    ])
    for (const path of ["../project", "escape", "/etc/hostname"])
      await expect(read.execute({ reference: "lib", path }, openScene())).rejects.toMatchObject({
        code: "denied",
      })
    await expect(read.execute({ reference: "libb", path: "." }, openScene())).rejects.toThrow(
      /Did you mean lib\?/,
    )
  },
  "by its name, and not left",
)

test("a cut output is paged with read by the name its preview gives, and others are not listed", async () => {
  await using space = await openWorkspace()
  const whole = Array.from({ length: 5000 }, (_, at) => `${at}\n`).join("")
  const preview = textOf(
    await boundOutput({ content: [{ type: "text", text: whole }] }, space.outputDirectory),
  )
  const [, reference = "", path = ""] = /reference "(\w+)", path "([^"]+)"/.exec(preview) ?? []
  const page = await readTool(space).execute({ reference, path, offset: 2500, limit: 2 }, openScene())
  expect(textOf(page)).toContain("2499\n2500\n")
  for (const other of [".", "..", `../${path}`, "tool_1.txt"])
    await expect(readTool(space).execute({ reference, path: other }, openScene())).rejects.toMatchObject({
      code: "denied",
    })
})
