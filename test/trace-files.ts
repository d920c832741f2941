/**
 * Loaded before a program (`--import`): every function body of the engine says which file it belongs to when it is run, and
 * the order in which files are first run is kept. Only block bodies are marked; no file of the engine does its work without one.
 */
import { readFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"

const ENGINE = "/packages/engine/src/"

const seen: string[] = []

/** Files in the order in which they were first run since this was asked for the last time. */
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
