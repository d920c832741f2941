/**
 * Loaded before a program (`--import`): every function body of the engine reports its file when it runs, and the order of
 * first runs is kept. Only block bodies are marked; every file of the engine that does work has one.
 */
import { readFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"

const ENGINE = "/packages/engine/src/"

const seen: string[] = []

/** Files in order of their first run since the last call. */
export const takeTrace = (): readonly string[] => seen.splice(0)

Reflect.set(globalThis, "__runs", (file: string): void => {
  if (!seen.includes(file)) seen.push(file)
})

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    const path = url.startsWith("file:") ? fileURLToPath(url) : ""
    const [, file] = path.split(ENGINE)
    if (file === undefined) return loaded
    const source = stripTypeScriptTypes(readFileSync(path, "utf8"))
    const mark = `__runs(${JSON.stringify(file)});`
    return {
      ...loaded,
      format: "module",
      source: source.replaceAll(/(=> \{|function\* ?\w*\([^()]*\) \{)(?=\n)/g, (body) => `${body} ${mark}`),
    }
  },
})
