import { join, dirname } from "node:path"

import { expect, test } from "vitest"

import { shakeDeclarations } from "./shake-declarations.ts"

const shake = (files: Readonly<Record<string, string>>, ...entries: readonly string[]) =>
  shakeDeclarations(entries, {
    read: (file) => files[file] ?? "",
    resolve: (specifier, from) =>
      specifier.startsWith(".") ? join(dirname(from), specifier).replace(/\.js$/, ".d.ts") : undefined,
    specifier: (to) => `./${to.replace(/\.d\.ts$/, ".js")}`,
  })

test("only what an entry reaches is kept, with its comments", () => {
  const { files, outside } = shake(
    {
      "index.d.ts": 'export type { Kept } from "./a.js"',
      "a.d.ts": `/** What the file is. */
import type { Far } from "far"
import type { Used } from "./b.js"
/** Said of Kept. */
export interface Kept { readonly used: Used }
export declare const dropped: Far
`,
      "b.d.ts": "export type Used = Local\ntype Local = string\ntype Other = number\n",
    },
    "index.d.ts",
  )
  expect([...outside]).toEqual([])
  expect(Object.fromEntries(files)).toEqual({
    "index.d.ts": 'export { Kept } from "./a.js"\nexport {}\n',
    "a.d.ts":
      '/** What the file is. */\nimport type { Used } from "./b.js"\n/** Said of Kept. */\nexport interface Kept { readonly used: Used }\nexport {}\n',
    "b.d.ts": "export type Used = Local\ntype Local = string\nexport {}\n",
  })
})

test("inline imports, stars, renames, namespaces and merged declarations are followed", () => {
  const { files, outside } = shake(
    {
      "index.d.ts": 'export * from "./star.js"\nexport { One as Uno } from "./a.js"\n',
      "star.d.ts": 'import * as all from "./b.js"\nexport type Star = import("./a.js").Two<all.B>\n',
      "a.d.ts":
        'interface One { a: 1 }\ninterface One { b: import("outside").X }\nexport { One }\nexport type Two<T> = T\nexport type Three = 3\n',
      "b.d.ts": "export type B = 1\nexport type C = 2\n",
    },
    "index.d.ts",
  )
  expect([...outside]).toEqual(["outside"])
  expect(Object.fromEntries(files)).toEqual({
    "index.d.ts": 'export { One as Uno } from "./a.js"\nexport * from "./star.js"\nexport {}\n',
    "star.d.ts":
      'import type * as all from "./b.js"\nexport type Star = import("./a.js").Two<all.B>\nexport {}\n',
    "a.d.ts":
      'interface One { a: 1 }\ninterface One { b: import("outside").X }\nexport type Two<T> = T\nexport { One }\nexport {}\n',
    "b.d.ts": "export type B = 1\nexport type C = 2\nexport {}\n",
  })
})

test("a property called like an import does not keep it; a circle ends", () => {
  const { files, outside } = shake(
    {
      "index.d.ts":
        'import { Effect } from "effect"\nimport type { B } from "./b.js"\nexport interface A { Effect: B }\nexport declare const run: Effect\n'.replace(
          "export declare const run: Effect\n",
          "declare const run: Effect\n",
        ),
      "b.d.ts": 'import type { A } from "./index.js"\nexport interface B { a?: A }\n',
    },
    "index.d.ts",
  )
  expect([...outside]).toEqual([])
  expect(files.get("index.d.ts")).not.toContain("effect")
})
