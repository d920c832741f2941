import { expect, test } from "vitest"

import { plainText } from "./plain-text.ts"

test.each([
  ["usual text, in any writing, stays as it is", "a\tb\nc ä 日本 שלום 👩‍👩‍👧", "a\tb\nc ä 日本 שלום 👩‍👩‍👧"],
  ["colours of a terminal are gone", "\u001b[1;31mred\u001b[0m \u001b[2K\u001b]0;title\u0007x", "red x"],
  ["a link of a terminal leaves its words", "\u001b]8;;http://e\u001b\\here\u001b]8;;\u001b\\", "here"],
  ["an escape alone is shown", "a\u001b", "a␛"],
  ["lines end as lines, however they end", "a\r\nb\rc", "a\nb\nc"],
  ["controls are shown", "a\u0000b\u0008c\u007f", "a␀b␈c⟨U+007F⟩"],
  ["marks that turn the writing are shown", "rm \u202e gpj.exe\u2066", "rm ⟨U+202E⟩ gpj.exe⟨U+2066⟩"],
])("%s", (_name, text, shown) => {
  expect(plainText(text)).toBe(shown)
})
