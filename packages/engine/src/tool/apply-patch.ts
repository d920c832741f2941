/**
 * `apply_patch`: several files in one call. Everything that can be known beforehand is checked before the first write
 * (the whole patch parsed, every path resolved, every permission asked, every update and delete tried in memory); then
 * the changes are made one after the other. There is no rollback: a change that fails on disk leaves the earlier
 * ones in place, and the answer says exactly which.
 */
import { lstat } from "node:fs/promises"
import { resolve } from "node:path"

import { alsoNamed, described, objectOf, text } from "@meridian/protocol"

import { toolInput } from "../port/tool-input.ts"
import { ToolError, type Tool, type ToolScene, type BuiltinTool } from "../port/tool.ts"
import { oneLine, throwIfAborted } from "./describe-error.ts"
import type { FileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { applyChunks } from "./patch-match.ts"
import { parsePatch, type PatchSection } from "./patch-text.ts"
import { deleteFile, readSnapshot, replaceFile, type FileSnapshot } from "./replace-file.ts"
import { askForExternal, resolvePath, type Place, type ResolvedPath } from "./resolve-path.ts"
import { decodeTextFile, encodeTextFile } from "./text-file.ts"

export interface ApplyPatchOptions extends Place {
  readonly locks: FileLocks
}

const INPUT = toolInput(
  objectOf({
    patchText: alsoNamed(
      described(
        text({ least: 1, most: TOOL_LIMITS.patchBytes }),
        'The whole patch, from "*** Begin Patch" to "*** End Patch"',
      ),
      "patch",
      "input",
      "patch_text",
    ),
  }),
)

const FORM = `*** Begin Patch
*** Add File: new.txt
+every line starts with +
*** Update File: old.txt
@@ optional line to look for first
 unchanged line
-removed line
+added line
*** Delete File: gone.txt
*** End Patch`

export const applyPatchTool = (options: ApplyPatchOptions): Tool => ({
  advertisement: {
    name: "apply_patch",
    description:
      `Adds, updates and deletes files by one patch of this form:\n${FORM}\nPaths are relative to the working directory; each ` +
      `file appears once; give about three unchanged lines around a change; moves are not supported. The patch is ` +
      `checked as a whole before anything is written; at most ${TOOL_LIMITS.patchFiles} files and ` +
      `${TOOL_LIMITS.patchBytes / 1024 / 1024} MiB. If a write fails the answer says what was applied.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const { patchText } = INPUT.decode(raw)
    const parsed = parsePatch(patchText)
    if (parsed.type === "refused")
      throw new ToolError("invalid-input", `The patch was not applied: ${parsed.why}.`)
    const targets = await resolveTargets(options, parsed.sections)
    const paths = targets.map(({ path }) => path)
    await askForExternal(scene, paths, "Change files")
    const resources = paths.map((path) => path.resource)
    await scene.ask({
      action: "edit",
      resources,
      title: `Apply a patch to ${resources.length === 1 ? resources[0] : `${resources.length} files`}`,
      detail: { files: resources, patch: patchText.slice(0, TOOL_LIMITS.detailCharacters) },
    })
    return options.locks.hold(
      paths.map((path) => path.absolute),
      async () => {
        throwIfAborted(scene.signal)
        const changes: Change[] = []
        for (const target of targets) changes.push(await preflight(target))
        return commit(changes, scene)
      },
    )
  },
})

export const APPLY_PATCH: BuiltinTool<ApplyPatchOptions> = {
  name: "apply_patch",
  traits: { action: "edit" },
  open: applyPatchTool,
}

interface Target {
  readonly section: PatchSection
  readonly path: ResolvedPath
}

type Change = { readonly path: ResolvedPath } & (
  | { readonly type: "add"; readonly bytes: Buffer }
  | { readonly type: "update"; readonly bytes: Buffer; readonly snapshot: FileSnapshot }
  | { readonly type: "delete"; readonly snapshot: FileSnapshot }
)

const resolveTargets = async (
  place: Place,
  sections: readonly PatchSection[],
): Promise<readonly Target[]> => {
  const targets: Target[] = []
  const seen = new Set<string>()
  for (const section of sections) {
    const path = await resolvePath(place, section.path)
    if (section.type === "delete" && (await isLink(resolve(place.directory, section.path))))
      throw new ToolError(
        "invalid-input",
        `The patch was not applied: ${JSON.stringify(section.path)} is a link, and deleting would remove the file it leads to. Remove the link with bash, or name the file itself.`,
      )
    if (seen.has(path.absolute))
      throw new ToolError(
        "invalid-input",
        `The patch was not applied: ${JSON.stringify(section.path)} appears twice; put all its changes into one section.`,
      )
    seen.add(path.absolute)
    targets.push({ section, path })
  }
  return targets
}

const isLink = async (absolute: string): Promise<boolean> => {
  const stats = await lstat(absolute).catch(() => undefined)
  return stats?.isSymbolicLink() ?? false
}

/** What will be written, worked out in memory; any refusal here means that nothing has happened. */
const preflight = async ({ section, path }: Target): Promise<Change> => {
  try {
    if (section.type === "add") {
      await mustNotExist(path)
      return { type: "add", path, bytes: Buffer.from(section.text) }
    }
    const snapshot = await readSnapshot(path)
    if (section.type === "delete") return { type: "delete", path, snapshot }
    const file = decodeTextFile(snapshot.bytes, path.named)
    const patched = applyChunks(file.text, section.chunks)
    if (patched.type === "refused")
      throw new ToolError("failed", `${JSON.stringify(path.named)}: ${patched.why}`)
    return { type: "update", path, snapshot, bytes: encodeTextFile({ ...file, text: patched.text }) }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    throw new ToolError(error.code, `Nothing of the patch was applied. ${error.message}`, { cause: error })
  }
}

const mustNotExist = async (path: ResolvedPath): Promise<void> => {
  const existing = await readSnapshot(path).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error
    return error
  })
  if (existing instanceof ToolError) {
    if (existing.code === "not-found") return
    throw existing
  }
  throw new ToolError(
    "failed",
    `${JSON.stringify(path.named)} exists already; use "*** Update File:" for it.`,
  )
}

const LETTER = { add: "A", update: "M", delete: "D" } as const
const describe = (change: Change): string => `${LETTER[change.type]} ${change.path.resource}`

const commit = async (changes: readonly Change[], scene: ToolScene) => {
  for (const [index, change] of changes.entries()) {
    try {
      throwIfAborted(scene.signal)
      await commitOne(change)
    } catch (error) {
      throw partial(changes, index, error)
    }
  }
  const files = changes.map(describe)
  return {
    content: [{ type: "text" as const, text: `Applied the patch:\n${files.join("\n")}` }],
    structured: { files: changes.map(({ type, path }) => ({ type, path: path.resource })) },
  }
}

const commitOne = async (change: Change): Promise<unknown> => {
  if (change.type === "add") return replaceFile(change.path, change.bytes, { type: "absent" })
  if (change.type === "delete") return deleteFile(change.path, change.snapshot)
  return replaceFile(change.path, change.bytes, { type: "unchanged", snapshot: change.snapshot })
}

const partial = (changes: readonly Change[], failedAt: number, error: unknown): ToolError => {
  const failed = changes[failedAt]
  const lines = [
    failedAt === 0 ? "Nothing of the patch was applied." : "The patch was applied only in part.",
    ...(failedAt === 0 ? [] : ["Applied:", ...changes.slice(0, failedAt).map(describe)]),
    "Failed:",
    `${failed === undefined ? "" : describe(failed)}: ${oneLine(error)}`,
    ...(failedAt + 1 < changes.length
      ? ["Not attempted:", ...changes.slice(failedAt + 1).map(describe)]
      : []),
    ...(failedAt === 0 ? [] : ["Do not send the applied parts again."]),
  ]
  const code = error instanceof ToolError ? error.code : "failed"
  return new ToolError(code, lines.join("\n"), { cause: error })
}
