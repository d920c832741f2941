/**
 * A rolldown plugin for programs that are started often. `import { readFileSync } from "node:fs"` makes Node build an ES
 * facade of the whole module, which touches every getter in it (`fs.promises`, streams, readline): about 10 ms at each
 * start. Here a builtin is reached through `process.getBuiltinModule`, and its functions only when they are called.
 */
import { isBuiltin } from "node:module"

import type { Plugin } from "rolldown"

const IMPORTED = "\0builtin:"
/** What packages use directly (a class, `webcrypto`) must not be loaded by a file that our own code shares with them. */
const BY_PACKAGE = "\0package-builtin:"
const REQUIRED = "\0required-builtin:"

export const lazyBuiltins = (): Plugin => ({
  name: "lazy-builtins",
  resolveId: (source, importer = "", { kind }) => {
    if (!isBuiltin(source)) return null
    const imported = importer.includes("node_modules") ? BY_PACKAGE : IMPORTED
    return { id: `${kind === "require-call" ? REQUIRED : imported}${source}`, moduleSideEffects: false }
  },
  load: (id) => {
    if (id.startsWith(IMPORTED)) return { code: facadeOf(id.slice(IMPORTED.length)) }
    if (id.startsWith(BY_PACKAGE)) return { code: facadeOf(id.slice(BY_PACKAGE.length)) }
    // A `require` wants the module itself; a facade of it would touch every getter after all.
    if (id.startsWith(REQUIRED)) return { code: `module.exports = ${moduleOf(id.slice(REQUIRED.length))}` }
    return null
  },
})

const moduleOf = (name: string): string => `process.getBuiltinModule(${JSON.stringify(name)})`

/** One export per name, so that unused ones are dropped and never touched. */
const facadeOf = (name: string): string => {
  const load = moduleOf(name)
  const members = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)))
  const lines = members
    .filter(([key]) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default")
    .map(
      ([key, { value }]) =>
        `const $${key} = ${memberOf(`${load}.${key}`, key, value)}\nexport { $${key} as ${key} }`,
    )
  return [...lines, `export default /* @__PURE__ */ (() => ${load})()`].join("\n")
}

/** Plain functions wait for their first call. Classes, constants and functions with properties are taken directly. */
const memberOf = (source: string, key: string, value: unknown): string => {
  const asItIs = `/* @__PURE__ */ (() => ${source})()`
  if (typeof value !== "function" || !/^[a-z]/.test(key)) return asItIs
  const more = Reflect.ownKeys(value).filter((own) => !["length", "name", "prototype"].includes(String(own)))
  const call = `(...args) => ${source}(...args)`
  if (more.length === 0) return call
  return more.length === 1 && more[0] === PROMISIFY
    ? `/* @__PURE__ */ Object.assign(${call}, { [${PROMISIFY_SOURCE}]: (...args) => ${source}[${PROMISIFY_SOURCE}](...args) })`
    : asItIs
}

/** `execFile` and others bring their own promise version. */
const PROMISIFY_SOURCE = 'Symbol.for("nodejs.util.promisify.custom")'
const PROMISIFY = Symbol.for("nodejs.util.promisify.custom")
