import { startScriptedProvider } from "@meridian/testkit"
import { expect, test } from "vitest"

import { realTime } from "../../../../test/real-time.ts"
import type { FilePart, PromptMessage } from "../domain/prompt.ts"
import type { ModelRequest } from "../port/model.ts"
import { PROVIDERS } from "./config.ts"
import { openModel } from "./open-model.ts"
import { openReadableFiles } from "./readable-files.ts"

const file = (mediaType: string, content: string | Buffer, filename?: string): FilePart => ({
  type: "file",
  data: { type: "data", data: Buffer.from(content).toString("base64") },
  mediaType,
  ...(filename === undefined ? {} : { filename }),
})

const user = (...content: readonly FilePart[]): PromptMessage => ({
  role: "user",
  content: [{ type: "text", text: "look" }, ...content],
})

const PICTURE = file("image/png", "png")
const NOTES = file("text/markdown", "# Größe\n", "notes.md")
const ARCHIVE = file("application/zip", Buffer.from([0x50, 0x4b, 3, 4, 0xff, 0xff]), "a.zip")

test("files a provider reads stay as they are, and so does the prompt", () => {
  const prompt = [user(PICTURE, file("application/pdf", "pdf"))]
  for (const provider of PROVIDERS) expect(openReadableFiles(provider)(prompt)).toBe(prompt)
})

test("a text file it does not accept is sent as its content, anything else as a note", () => {
  const shaped = openReadableFiles("anthropic")([
    user(NOTES, ARCHIVE, file("application/ld+json", "{}"), file("application/JSON", Buffer.from([0xff]))),
  ])
  expect(shaped[0]?.content).toEqual([
    { type: "text", text: "look" },
    { type: "text", text: 'File "notes.md" (text/markdown):\n# Größe\n' },
    {
      type: "text",
      text: '[File "a.zip" (application/zip, 6 bytes) was attached; you cannot read files of this kind here.]',
    },
    { type: "text", text: "File (application/ld+json):\n{}" },
    {
      type: "text",
      text: "[File (application/JSON, 3 bytes) was attached; you cannot read files of this kind here.]",
    },
  ])
})

test("pictures in results of tools are looked at too, and a changed message is the same object the next time", () => {
  const result: PromptMessage = {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "c",
        toolName: "read",
        output: { type: "content", value: [PICTURE, file("image/svg+xml", "<svg/>")] },
      },
    ],
  }
  const plain = user(PICTURE)
  const readable = openReadableFiles("openai")
  const shaped = readable([plain, result])
  expect(shaped[0]).toBe(plain)
  expect(shaped[1]).toMatchObject({
    content: [{ output: { value: [PICTURE, { type: "text", text: "File (image/svg+xml):\n<svg/>" }] } }],
  })
  expect(readable([plain, result])[1]).toBe(shaped[1])
})

test.each(PROVIDERS.filter((name) => name !== "scripted"))(
  "%s answers a prompt with files of every kind",
  async (provider) => {
    const server = await startScriptedProvider({ script: [{ text: "seen" }] })
    const model = openModel(
      {
        id: "x/gemini-3-pro",
        provider,
        baseURL: `${server.url}/v1`,
        apiKey: "key",
        contextWindow: 100_000,
        maxOutput: 1_000,
      },
      { ...realTime, now: () => 0 },
    )
    const kinds = [
      "image/bmp",
      "audio/ogg",
      "video/mp4",
      "application/octet-stream",
      "font/woff2",
      "text/csv",
    ]
    const request: ModelRequest = {
      sessionID: "ses_1",
      prompt: [user(PICTURE, NOTES, ARCHIVE, ...kinds.map((kind) => file(kind, "data")))],
      tools: [],
    }
    const types: string[] = []
    for await (const event of model.stream(request, new AbortController().signal)) types.push(event.type)
    expect(types.at(-1)).toBe("finish")
    expect(JSON.stringify(server.requests[0]?.body)).toContain("# Größe")
    await server.close()
  },
)
