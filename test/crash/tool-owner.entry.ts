/** An engine reduced to its bash tool, to be killed while the command runs. Arguments: root, output directory, command. */
import { bashTool } from "../../packages/engine/src/tool/bash.ts"
import { openProcessGuard } from "../../packages/engine/src/tool/process-guard.ts"
import { openScene } from "../tool-scene.ts"

const [, , root = "", outputDirectory = "", command = ""] = process.argv
const guard = openProcessGuard()
const bash = bashTool({
  root,
  directory: root,
  outputDirectory,
  guard,
  scope: root,
  environment: { PATH: "/usr/bin:/bin" },
})
await bash.execute({ command }, openScene())
