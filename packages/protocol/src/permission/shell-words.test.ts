import * as fc from "fast-check"
import { expect, test } from "vitest"

import { readShellWords } from "./shell-words.ts"

test.each([
  ["git status", ["git", "status"]],
  ["  git \t status  ", ["git", "status"]],
  ["npm test -- --grep 'a b'", ["npm", "test", "--", "--grep", "a b"]],
  [`git commit -m "it's done"`, ["git", "commit", "-m", "it's done"]],
  [`echo a'b'"c"d`, ["echo", "abcd"]],
  ["echo ''", ["echo", ""]],
  ["echo a#b 'x # y'", ["echo", "a#b", "x # y"]],
  ["make CC=gcc all", ["make", "CC=gcc", "all"]],
  ["./tools/run.sh häuser 家", ["./tools/run.sh", "häuser", "家"]],
  ["echo done! 50% a^b", ["echo", "done!", "50%", "a^b"]],
])("%j is plain words", (command, words) => {
  expect(readShellWords(command)).toEqual({ kind: "words", words })
})

test.each([
  ["", "it is empty"],
  ["   ", "it is empty"],
  ["git status; rm x", "it holds ;"],
  ["git status && rm x", "it holds &"],
  ["git status | sh", "it holds |"],
  ["echo $HOME", "it holds $"],
  ["echo '$HOME'", "it holds $"],
  ["echo ${x:='$''(id)'} ${x@P}", "it holds $"],
  ["echo $[1+1]", "it holds $"],
  ["echo `id`", "it holds `"],
  ["echo a\\ b", "it holds \\"],
  ["echo > x", "it holds >"],
  ["cat <(id)", "it holds <"],
  ["echo *", "it holds *"],
  ["echo '?'", "it holds ?"],
  ["echo [ab]", "it holds ["],
  ["echo {a,b}", "it holds {"],
  ["echo ~root", "it holds ~"],
  ["echo a\nid", "it holds U+000A"],
  ["echo a\rid", "it holds U+000D"],
  ["echo a\u00a0b", "it holds U+00A0"],
  ["echo a\u2028b", "it holds U+2028"],
  ["echo \u0000", "it holds U+0000"],
  ["echo \ud83d", "it holds U+D83D"],
  ["echo 'a", "a quote is not closed"],
  ['echo "a', "a quote is not closed"],
  ["echo a #b", "it holds a comment"],
  ["# git status", "it holds a comment"],
  ["LD_PRELOAD=x git status", "its first word is not a plain program name"],
  ["A+=1 git status", "its first word is not a plain program name"],
  ["'git' status", "its first word is not a plain program name"],
  ["'git status'", "its first word is not a plain program name"],
  ["%1", "its first word is not a plain program name"],
  ["!", "its first word is not a plain program name"],
  ["if x", "if is a word of the shell"],
  ["eval id", "eval is a word of the shell"],
  [". ./x", ". is a word of the shell"],
  ["time git status", "time is a word of the shell"],
])("%j is more than words: %s", (command, why) => {
  expect(readShellWords(command)).toEqual({ kind: "more", why })
})

test("words that are put together again with quotes are the same words", () => {
  const plain = fc.stringMatching(/^[A-Za-z0-9_./:@%+,=-]{0,12}$/)
  const spaced = fc.stringMatching(/^[A-Za-z0-9 "_.-]{0,12}$/)
  fc.assert(
    fc.property(fc.array(fc.oneof(plain, spaced)), (words) => {
      const line = ["run", ...words.map((word) => `'${word}'`)].join(" ")
      expect(readShellWords(line)).toEqual({ kind: "words", words: ["run", ...words] })
    }),
  )
})

test("whatever the line is, reading it never throws and costs no more than its length", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (line) => void readShellWords(line)))
  expect(readShellWords(`a${" b".repeat(200_000)}`).kind).toBe("words")
})
