/** Our prompt is the AI SDK's prompt: passed on unchanged, never rebuilt. The compiler is the test. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { expectTypeOf, test } from "vitest"

import type { ModelRequest } from "../port/model.ts"
import { asSdkPrompt } from "./provider-model.ts"

type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value

test("our prompt is a prompt of the AI SDK that is never written to", () => {
  expectTypeOf<ModelRequest["prompt"]>().toExtend<DeepReadonly<LanguageModelV4CallOptions["prompt"]>>()
})

test("passing a prompt on keeps the same list object", ({ expect }) => {
  const prompt: ModelRequest["prompt"] = [{ role: "user", content: [{ type: "text", text: "hi" }] }]
  expect(asSdkPrompt(prompt)).toBe(prompt)
})
