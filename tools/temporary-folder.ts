/** Gives a test run its own temporary folder and removes it at the end, whatever the tests left in it. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** For vitest's `globalSetup`: before any worker starts, and once for all projects. */
export const setup = (): (() => void) | undefined => {
  if (process.env["MERIDIAN_TEST_FOLDER"] !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), "meridian-test-"))
  // Like the system's temporary folder, the other user that some tests become can enter it.
  chmodSync(folder, 0o711)
  process.env["MERIDIAN_TEST_FOLDER"] = folder
  process.env["TMPDIR"] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
