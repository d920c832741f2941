/**
 * `apply_patch`: several files in one call, all of them or none. Everything that can be known beforehand is checked before
 * the first write: the whole patch is parsed, every path resolved, every permission asked, every change tried in memory.
 * Then `change-files.ts` makes the changes, and undoes them when one fails.
 */
import { lstat } from "node:fs/promises"
import { resolve } from "node:path"

import { alsoNamed, described, objectOf, text } from "@meridian/protocol"

import { toolInput } from "../port/tool-input.ts"
import { ToolError, type Tool, type ToolScene, type BuiltinTool } from "../port/tool.ts"
import { changeFiles, type ChangedFiles, type FileChange } from "./change-files.ts"
import { throwIfAborted } from "./describe-error.ts"
import type { FileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { applyChunks } from "./patch-match.ts"
import { parsePatch, type PatchChunk, type PatchSection } from "./patch-text.ts"
import { readSnapshot, type FileSnapshot } from "./replace-file.ts"
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
*** Update File: from.txt
*** Move to: folder/to.txt
*** Delete File: gone.txt
*** End Patch`

export const applyPatchTool = (options: ApplyPatchOptions): Tool => ({
  advertisement: {
    name: "apply_patch",
    description:
      `Adds, updates, moves and deletes files by one patch of this form:\n${FORM}\nPaths are relative to the working directory; ` +
      `each file appears once; give about three unchanged lines around a change; a moved file may be changed as well. ` +
      `Either the whole patch is applied or nothing of it; at most ${TOOL_LIMITS.patchFiles} files and ` +
      `${TOOL_LIMITS.patchBytes / 1024 / 1024} MiB.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const { patchText } = INPUT.decode(raw)
    const parsed = parsePatch(patchText)
    if (parsed.type === "refused")
      throw new ToolError("invalid-input", `The patch was not applied: ${parsed.why}.`)
    const targets = await resolveTargets(options, parsed.sections)
    const paths = targets.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]))
    await askForExternal(scene, paths, "Change files")
    const resources = paths.map((path) => path.resource)
    await scene.ask({
      action: "edit",
      resources,
      title: `Apply a patch to ${targets.length === 1 ? resources[0] : `${targets.length} files`}`,
      detail: { files: resources, patch: patchText.slice(0, TOOL_LIMITS.detailCharacters) },
    })
    return options.locks.hold(
      paths.map((path) => path.absolute),
      async () => {
        throwIfAborted(scene.signal)
        const edits: Edit[] = []
        for (const target of targets) edits.push(await preflight(target))
        return apply(edits, scene)
      },
    )
  },
})

export const APPLY_PATCH: BuiltinTool<ApplyPatchOptions> = {
  name: "apply_patch",
  traits: { kind: "edit", action: "edit", changes: "asked" },
  open: applyPatchTool,
}

interface Target {
  readonly section: PatchSection
  readonly path: ResolvedPath
  /** The new path of a moved file. */
  readonly to?: ResolvedPath
}

const resolveTargets = async (
  place: Place,
  sections: readonly PatchSection[],
): Promise<readonly Target[]> => {
  const seen = new Set<string>()
  const resolveOnce = async (named: string): Promise<ResolvedPath> => {
    const path = await resolvePath(place, named)
    if (seen.has(path.absolute))
      throw new ToolError(
        "invalid-input",
        `The patch was not applied: ${JSON.stringify(named)} appears twice; put all its changes into one section.`,
      )
    seen.add(path.absolute)
    return path
  }
  const targets: Target[] = []
  for (const section of sections) {
    const to = section.type === "update" ? section.to : undefined
    const path = await resolveOnce(section.path)
    if (section.type === "delete" || to !== undefined) await mustBeNoLink(place, section.path)
    targets.push({ section, path, ...(to === undefined ? {} : { to: await resolveOnce(to) }) })
  }
  return targets
}

const mustBeNoLink = async (place: Place, named: string): Promise<void> => {
  const stats = await lstat(resolve(place.directory, named)).catch(() => undefined)
  if (stats?.isSymbolicLink() === true)
    throw new ToolError(
      "invalid-input",
      `The patch was not applied: ${JSON.stringify(named)} is a link, and the file it leads to would be gone. Remove or rename the link with bash, or name the file itself.`,
    )
}

/** The result of one section. */
interface Edit {
  readonly said: { readonly letter: string; readonly type: string; readonly target: Target }
  readonly changes: readonly FileChange[]
}

/** Works out in memory what will be written. A refusal here means that nothing has happened. */
const preflight = async (target: Target): Promise<Edit> => {
  try {
    return await editOf(target)
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    throw new ToolError(error.code, `Nothing of the patch was applied. ${error.message}`, { cause: error })
  }
}

const editOf = async (target: Target): Promise<Edit> => {
  const { section, path, to } = target
  if (section.type === "add") {
    await mustNotExist(path, 'use "*** Update File:" for it')
    const change = { type: "add", path, bytes: Buffer.from(section.text) } as const
    return { said: { letter: "A", type: "add", target }, changes: [change] }
  }
  const snapshot = await readSnapshot(path)
  const removal = { type: "delete", path, snapshot } as const
  if (section.type === "delete") return { said: { letter: "D", type: "delete", target }, changes: [removal] }
  const bytes = section.chunks.length === 0 ? snapshot.bytes : patchedBytes(section.chunks, snapshot, path)
  if (to === undefined)
    return {
      said: { letter: "M", type: "update", target },
      changes: [{ type: "update", path, snapshot, bytes }],
    }
  await mustNotExist(to, "move to another name")
  return {
    said: { letter: "R", type: "move", target },
    changes: [{ type: "add", path: to, bytes, like: snapshot }, removal],
  }
}

const patchedBytes = (chunks: readonly PatchChunk[], { bytes }: FileSnapshot, path: ResolvedPath): Buffer => {
  const file = decodeTextFile(bytes, path.named)
  const patched = applyChunks(file.text, chunks)
  if (patched.type === "refused")
    throw new ToolError("failed", `${JSON.stringify(path.named)}: ${patched.why}`)
  return encodeTextFile({ ...file, text: patched.text })
}

const mustNotExist = async (path: ResolvedPath, instead: string): Promise<void> => {
  const existing = await readSnapshot(path).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error
    return error
  })
  if (existing instanceof ToolError) {
    if (existing.code === "not-found") return
    throw existing
  }
  throw new ToolError("failed", `${JSON.stringify(path.named)} exists already; ${instead}.`)
}

const describeEdit = ({ said: { letter, target } }: Edit): string =>
  `${letter} ${target.path.resource}${target.to === undefined ? "" : ` -> ${target.to.resource}`}`

const apply = async (edits: readonly Edit[], { signal }: ToolScene) => {
  const changed = await changeFiles(
    edits.flatMap(({ changes }) => changes),
    signal,
  )
  if (changed.kind === "failed") throw refusal(changed)
  return {
    content: [{ type: "text" as const, text: `Applied the patch:\n${edits.map(describeEdit).join("\n")}` }],
    structured: {
      files: edits.map(({ said: { type, target } }) => ({
        type,
        path: target.path.resource,
        ...(target.to === undefined ? {} : { to: target.to.resource }),
      })),
    },
  }
}

const refusal = ({ error, left }: Extract<ChangedFiles, { readonly kind: "failed" }>): ToolError => {
  if (left.length === 0)
    return new ToolError(error.code, `Nothing of the patch was applied. ${error.message}`, { cause: error })
  const files = left.map(({ path }) => path.resource).join(", ")
  return new ToolError(
    error.code,
    `The patch failed and was taken back, except for files that somebody else changed meanwhile: ${files}. Look at them before you go on. ${error.message}`,
    { cause: error },
  )
}
