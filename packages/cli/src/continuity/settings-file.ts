/** Changes a settings file of another program: read, decide, then replace it whole or leave it as it is. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"

import { Failure } from "@meridian/protocol"

export type Edit =
  | { readonly kind: "write"; readonly action: "installed" | "updated" | "removed"; readonly text: string }
  | { readonly kind: "delete"; readonly action: "removed" }
  | { readonly kind: "keep"; readonly action: "unchanged" | "absent" }
  | { readonly kind: "invalid"; readonly problem: string }

/** If the file cannot be understood, throws `HOOK_SETTINGS_INVALID` and leaves it untouched. */
export const editSettings = (
  path: string,
  decide: (text: string | undefined) => Edit,
): "installed" | "updated" | "removed" | "unchanged" | "absent" => {
  const found = existsSync(path) ? readFileSync(path, "utf8") : undefined
  // Some editors begin a file with a mark that no JSON parser accepts. It stays in place.
  const mark = found?.startsWith(BYTE_ORDER_MARK) === true ? BYTE_ORDER_MARK : ""
  const edit = decide(found?.slice(mark.length))
  switch (edit.kind) {
    case "invalid":
      throw new Failure("HOOK_SETTINGS_INVALID", { path, problem: edit.problem })
    case "keep":
      return edit.action
    case "delete":
      rmSync(path)
      return edit.action
    case "write":
      replaceFile(path, mark + edit.text)
      return edit.action
  }
}

const BYTE_ORDER_MARK = "\uFEFF"

/** Whole or not at all. A link stays a link and keeps its mode: the file it points to changes. */
const replaceFile = (path: string, text: string): void => {
  const exists = existsSync(path)
  const target = exists ? realpathSync(path) : path
  mkdirSync(dirname(target), { recursive: true })
  const fresh = `${target}.${process.pid}.tmp`
  writeFileSync(fresh, text)
  if (exists) chmodSync(fresh, statSync(target).mode)
  renameSync(fresh, target)
}
