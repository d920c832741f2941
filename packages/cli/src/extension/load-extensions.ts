/**
 * Loads the extensions of the user and of a trusted project as they are, and adds them to an engine. Reports what is
 * wrong with one.
 */
import { homedir } from "node:os"
import { basename, isAbsolute, resolve } from "node:path"
import { pathToFileURL } from "node:url"

import type { Engine, Extension } from "@meridian/engine"
import { findExtensionFiles, openPlace, readConfig, type World } from "@meridian/spaces"

/** How long a file's function may take to make its extension. */
const LOAD_MS = 10_000

export const addExtensions = async (engine: Pick<Engine, "extensions">, world: World): Promise<void> => {
  const { own, project, untrusted } = findExtensionFiles(world)
  const { config } = await readConfig(world)
  const place = openPlace(world.env, world.cwd)
  const plugins = config["extensions.opencode"].filter((path) => path !== "")
  if (untrusted.length > 0)
    world.warn("EXTENSIONS_UNTRUSTED", {
      folder: place.project,
      files: untrusted.map((path) => basename(path)).join(", "),
    })
  const add = async (file: string, load: () => Promise<Extension>): Promise<void> => {
    try {
      engine.extensions.add(await load())
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      world.warn("EXTENSION_UNUSABLE", { file, problem: problem.replace(/\.$/, "").slice(0, 500) })
    }
  }
  for (const file of own) await add(file, () => loadFile(file))
  // A project's extensions apply to its own sessions only.
  for (const file of project)
    await add(file, async () => ({ ...(await loadFile(file)), directory: place.project }))
  for (const plugin of plugins) {
    const file = isAbsolute(plugin)
      ? plugin
      : resolve(place.project, plugin.startsWith("~/") ? `${homedir()}${plugin.slice(1)}` : plugin)
    await add(file, async () => {
      const { openCodeExtension } = await import("./opencode-extension.ts")
      const exports = await importFile(file)
      const made = await within(
        openCodeExtension(basename(file), exports, { directory: world.cwd, worktree: place.project }),
      )
      if (made.unasked.length > 0) world.warn("PLUGIN_HOOKS_UNUSED", { file, hooks: made.unasked.join(", ") })
      return made.extension
    })
  }
}

/** The file's default export: an extension, or a function that makes one. Throws what is wrong with it. */
export const loadFile = async (file: string): Promise<Extension> => {
  const { default: exported } = await importFile(file)
  const made: unknown = isMaker(exported) ? await within(Promise.resolve(exported())) : exported
  if (typeof made !== "object" || made === null)
    throw new Error("its default export is no extension, and no function that makes one")
  const named: object = {
    name: basename(file)
      .replace(/\.[^.]+$/, "")
      .replaceAll(/[^\w.-]/g, "_"),
    ...made,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine looks at it whole when it is added
  return named as Extension
}

const isMaker = (value: unknown): value is () => unknown => typeof value === "function"

const importFile = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  const exports: unknown = await within(import(pathToFileURL(file).href))
  return { ...Object(exports) }
}

const within = async <Value>(work: Promise<Value>): Promise<Value> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it took longer than ${LOAD_MS} ms to load`)), LOAD_MS)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
    late.promise.catch(() => undefined)
  }
}
