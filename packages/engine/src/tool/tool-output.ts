/** The form of a tool's answer. Embedder tools may return it directly, and every tool's answer is checked against it. */
import { ANY, listOf, objectOf, oneOf, STRING, taggedBy, tester, text } from "@meridian/protocol"

import type { ToolOutput } from "../port/tool.ts"

const CONTENT = taggedBy(
  "type",
  objectOf({ type: oneOf("text"), text: STRING }),
  objectOf({
    type: oneOf("media"),
    mediaType: text({ pattern: /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/, like: "a media type such as image/png" }),
    base64: text({
      pattern: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
      like: "base64",
    }),
  }),
)

const OUTPUT = objectOf({ content: listOf(CONTENT) }, { structured: ANY, outputPath: STRING })

export const isToolOutput: (value: unknown) => value is ToolOutput = tester(OUTPUT, "keep")
