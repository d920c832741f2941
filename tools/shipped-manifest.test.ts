import { expect, test } from "vitest"

import { shippedManifest } from "./shipped-manifest.ts"

const SOURCE = {
  name: "@meridian/x",
  version: "1.2.3",
  private: true,
  scripts: { prepack: "build" },
  exports: {
    ".": { "meridian-source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./internal": { "meridian-source": "./src/internal.ts" },
  },
  devDependencies: { left: "1.0.0" },
}

test("what only development needs is left out, and every way in leads somewhere", () => {
  expect(
    shippedManifest(SOURCE, { has: (path) => path === "dist/index.js", engines: { node: ">=24.15" } }),
  ).toEqual({
    name: "@meridian/x",
    version: "1.2.3",
    exports: { ".": { default: "./dist/index.js" } },
    engines: { node: ">=24.15" },
  })
})

test("a program has no ways in", () => {
  expect(shippedManifest(SOURCE, { has: () => false })).toEqual({ name: "@meridian/x", version: "1.2.3" })
})
