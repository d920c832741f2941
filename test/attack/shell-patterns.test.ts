/**
 * Commands that an allowed pattern covers, run by a real bash that reports everything it does. A grammar makes lines close
 * to the edge. Whatever the matcher lets through must run the allowed program, once, with the words that the matcher saw,
 * and nothing else.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { allowsCommand, readShellWords } from "@meridian/protocol"
import * as fc from "fast-check"
import { afterAll, expect, test } from "vitest"

import { emptyFolder } from "../e2e/cli-binary.ts"

const folder = emptyFolder("jail ")
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [bin, room, record] = [join(folder, "bin"), join(folder, "room"), join(folder, "record")]
mkdirSync(bin)
writeFileSync(
  join(bin, "ok"),
  `#!/bin/sh\nprintf 'ok\\001' >> '${record}'\nfor word do printf '%s\\001' "$word" >> '${record}'; done\nprintf '\\002' >> '${record}'\n`,
)
chmodSync(join(bin, "ok"), 0o755)

/**
 * Each line runs in its own bash, which finds nothing but `ok`. Everything else it looks for is recorded, even builtins,
 * because they are switched off. The room contains files for globs to find and must be unchanged afterwards.
 */
const JAIL = `
command_not_found_handle() { /usr/bin/printf 'RAN %s\\001\\002' "$1" >> '${record}'; }
while IFS= read -r -d '' line; do
  (
    x=value y='$(id)' HOME=/somewhere IFS=$' \\t\\n'
    enable -n $(compgen -b | while read -r name; do case $name in eval|enable) ;; *) echo "$name" ;; esac; done)
    eval "$line"
  ) </dev/null >/dev/null 2>&1
  /usr/bin/printf '\\003' >> '${record}'
done
`

interface Played {
  /** What was run, in order: the words of each program. */
  readonly ran: readonly (readonly string[])[]
}

const play = (lines: readonly string[]): readonly Played[] => {
  rmSync(room, { recursive: true, force: true })
  mkdirSync(room)
  for (const name of ["a", "b", "ok"]) writeFileSync(join(room, name), "")
  writeFileSync(record, "")
  const { status, stderr } = spawnSync("/bin/bash", ["--norc", "-c", JAIL], {
    cwd: room,
    env: { PATH: bin },
    input: lines.map((line) => `${line}\0`).join(""),
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`the jail ended with ${status}: ${stderr}`)
  expect(readdirSync(room).toSorted()).toEqual(["a", "b", "ok"])
  return readFileSync(record, "utf8")
    .split("\u0003")
    .slice(0, -1)
    .map((part) => ({
      ran: part
        .split("\u0002")
        .slice(0, -1)
        .map((call) => call.split("\u0001").slice(0, -1)),
    }))
}

const PIECES = [
  ..."ok a b -x --y=z A=1 0 . / : , + @ % ^ = _ # ! é 家".split(" "),
  ..."$x ${x} ${x:=y} ${x@P} $(id) `id` $[1] $((1)) $'a' $\"a\" \\ \\n".split(" "),
  ..."; ;; & && | || |& > >> < << <<< <( >( 2>&1 ( ) { } [ ] [[ ]] * ? ~ ~root {a,b} !( @( eval exec . if then".split(
    " ",
  ),
  ..."' \" '' \"\" 'a b' \"a b\" '$x' \"$x\" ';' \"`id`\" '*' \"~\"".split(" "),
  " ",
  " ",
  "  ",
  "\t",
  "\n",
  "\r",
  "\u00a0",
  "ok ",
  "ok ",
  "a ",
  "'a b' ",
]

const line = fc
  .tuple(
    fc.constantFrom("ok ", "ok", " ok ", "", "o'k' ", "A=1 ok ", "! ok ", "time ok "),
    fc.array(fc.oneof({ arbitrary: fc.constantFrom(...PIECES), weight: 5 }, fc.string({ maxLength: 4 })), {
      maxLength: 6,
    }),
  )
  .map(([first, rest]) => `${first}${rest.join("")}`)
  .filter((text) => !text.includes("\0"))

const LINES = 10_000

test(`of ${LINES} lines, those a pattern allows run the allowed program with their words and nothing else`, () => {
  const seed = Math.trunc(Math.random() * 2 ** 31)
  const lines = fc.sample(line, { numRuns: LINES, seed })
  const allowed = lines.filter((text) => allowsCommand("ok *", text))
  const wordsOf = (text: string): readonly string[] => {
    const read = readShellWords(text)
    return read.kind === "words" ? read.words : []
  }
  const misread = play(allowed).flatMap(({ ran }, index) => {
    const text = allowed[index] ?? ""
    return JSON.stringify(ran) === JSON.stringify([wordsOf(text)]) ? [] : [{ text, ran }]
  })
  expect([seed, misread]).toEqual([seed, []])
  // Neither everything nor nothing: the grammar approaches the edge from both sides.
  expect(allowed.length).toBeGreaterThan(LINES / 50)
  expect(allowed.length).toBeLessThan(LINES / 2)
})

test("the jail tells when something else runs, so that silence means something", () => {
  const told = play(["ok a; id", "ok $(id)", "ok a b", "ok *", "ok $x", "eval id", "ok 'a  b'"]).map(
    ({ ran }) => ran,
  )
  expect(told).toEqual([
    [["ok", "a"], ["RAN id"]],
    [["RAN id"], ["ok"]],
    [["ok", "a", "b"]],
    [["ok", "a", "b", "ok"]],
    [["ok", "value"]],
    [["RAN id"]],
    [["ok", "a  b"]],
  ])
})

/** Found by hand: each ran a command after an allowed beginning in 0.1.0, or could have. */
test.each([
  "ok ${x:='$''(id)'} ${x@P}",
  "ok $[x]",
  "ok ${y@P}",
  "ok ~+",
  "ok {a,b}",
  "ok ?",
  "ok [a]",
  "ok ${x}",
  "ok !(x)",
  "ok 'unclosed",
])("%j asks", (text) => {
  expect(allowsCommand("ok *", text)).toBe(false)
})
