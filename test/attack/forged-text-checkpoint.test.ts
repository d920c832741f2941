/**
 * Text that tries to speak for somebody else. After a compaction the past is one message of ours, in which a tool, a model,
 * a file or a name may speak only as itself.
 */
import type { Reply, ScriptRequest } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { tool } from "../engine-scene.ts"
import { isSummaryRequest, openScene, type Scene } from "../layout/scene.ts"
import { forgedLines, FORGERIES, seen } from "./forged-text-scene.ts"

const SMALL = { contextWindow: 8_000, compaction: { keepTokens: 3_000 } } as const
const FILL = "lorem ipsum dolor sit amet ".repeat(40)

/** Prompts until a compaction has ended. Returns the checkpoint, and the prompt of the summariser. */
const compacted = async (scene: Scene): Promise<{ checkpoint: string; summarised: string }> => {
  for (let number = 1; number < 40; number += 1) {
    await scene.ask(`question ${number} ${FILL}`)
    const last = messagesOf(scene.requests.at(-1)).find((text) => text.startsWith("<checkpoint>"))
    if (last === undefined) continue
    const summarised = scene.requests.filter(isSummaryRequest).flatMap(messagesOf).join("\n")
    return { checkpoint: last, summarised }
  }
  throw new Error("never compacted")
}

const messagesOf = (request: ScriptRequest | undefined): readonly string[] => {
  const body: unknown = request?.body
  const prompt: unknown = typeof body === "object" && body !== null && "prompt" in body ? body.prompt : []
  if (!Array.isArray(prompt)) return []
  return prompt.flatMap((message: { readonly content: unknown }) =>
    Array.isArray(message.content)
      ? message.content.flatMap((part: { readonly text?: unknown }) =>
          typeof part.text === "string" ? [part.text] : [],
        )
      : [],
  )
}

const tagsOf = (text: string): readonly string[] =>
  [
    ...seen(text).matchAll(
      /<\s*\/?\s*(?:checkpoint|summary|recent|conversation|previous-checkpoint|system-reminder)\b[^>]*>/gi,
    ),
  ].map(([tag]) => tag)

const RECENT = ["<recent>", "</recent>"]
const checkpointTags = (checkpoint: string): readonly string[] => [
  "<checkpoint>",
  "<summary>",
  "</summary>",
  ...(checkpoint.includes("\n<recent>\n[") ? RECENT : []),
  "</checkpoint>",
]

const check = ({ checkpoint, summarised }: { checkpoint: string; summarised: string }): void => {
  expect(tagsOf(checkpoint)).toEqual(checkpointTags(checkpoint))
  expect(forgedLines(checkpoint)).toEqual([])
  expect(forgedLines(summarised)).toEqual([])
  expect(new Set(tagsOf(summarised).map((tag) => tag.replace("/", "")))).toEqual(
    new Set([
      "<conversation>",
      ...(summarised.includes("<previous-checkpoint>") ? ["<previous-checkpoint>"] : []),
    ]),
  )
  // Only the summariser's text is under the headings of a summary, and no other line begins with one.
  expect(checkpoint.split("\n").filter((line) => line.startsWith("## Objective"))).toEqual([])
}

const answer =
  (reply: Reply, summary = "a summary") =>
  (request: ScriptRequest, n: number): Reply => {
    if (isSummaryRequest(request)) return { text: summary }
    return n % 2 === 1 ? reply : { text: `answer ${n} ${FILL}` }
  }

describe.each(FORGERIES)("%s", (_what, text) => {
  test("in the result of a tool", async () => {
    await using scene = await openScene(answer({ tools: [{ name: "act" }] }), {
      ...SMALL,
      tools: [tool("act", () => text)],
    })
    check(await compacted(scene))
  })

  test("in the error of a tool, and in what it was called with", async () => {
    await using scene = await openScene(answer({ tools: [{ name: "act", input: { note: text } }] }), {
      ...SMALL,
      tools: [
        tool(
          "act",
          () => {
            throw new Error(text)
          },
          { note: { type: "string" } },
        ),
      ],
    })
    check(await compacted(scene))
  })

  test("in what a model says, and in the name of a tool that it makes up", async () => {
    await using scene = await openScene(answer({ text, tools: [{ name: `act\n${text}` }] }), SMALL)
    const { checkpoint, summarised } = await compacted(scene)
    // The assistant is the one who says it.
    const forged = (shown: string) => forgedLines(shown).filter((line) => !line.startsWith("[Assistant]: "))
    expect(tagsOf(checkpoint)).toEqual(checkpointTags(checkpoint))
    expect([...forged(checkpoint), ...forged(summarised)]).toEqual([])
  })

  test("in the name of an attached file", async () => {
    await using scene = await openScene(answer({ text: `answer ${FILL}` }), SMALL)
    await scene.engine.sessions.prompt({
      sessionID: scene.sessionID,
      prompt: {
        text: "look",
        files: [{ name: text, mediaType: "image/png", base64: Buffer.from("x").toString("base64") }],
      },
    })
    await scene.engine.sessions.wait(scene.sessionID)
    check(await compacted(scene))
  })

  test("in the summary that a model writes", async () => {
    await using scene = await openScene(answer({ text: `answer ${FILL}` }, `- done\n${text}`), SMALL)
    const { checkpoint } = await compacted(scene)
    expect(tagsOf(checkpoint)).toEqual(checkpointTags(checkpoint))
    expect(forgedLines(checkpoint)).toEqual([])
  })

  test("in what recall and expand show", async () => {
    const replies: readonly Reply[] = [
      { tools: [{ name: "act" }] },
      { tools: [{ name: "expand", input: { from: 1 } }] },
      { tools: [{ name: "recall", input: { query: "delete everything" } }] },
      { text: "done" },
    ]
    await using scene = await openScene((_request, n) => replies[n - 1] ?? { text: "done" }, {
      tools: [tool("act", () => text)],
    })
    await scene.ask("go")
    const shown = (await scene.events())
      .filter(({ type }) => type === "session.next.tool.success.1")
      .slice(1)
      .map(({ data }) => contentOf(data))
    expect(shown).toHaveLength(2)
    expect(shown.flatMap((one) => forgedLines(one.replaceAll(/^#\d+ /gm, "")))).toEqual([])
  })
})

const contentOf = (data: unknown): string =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an event of our own log
  (data as { readonly content: readonly { readonly text?: string }[] }).content
    .map(({ text = "" }) => text)
    .join("\n")
