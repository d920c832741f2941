/** Prints the brief of a folder as an unprivileged user sees it, because root may read everything. */
import { readBrief } from "@meridian/continuity"

const NOBODY = 65_534

if (process.geteuid?.() === 0) process.seteuid?.(NOBODY)
const { mode, warnings } = await readBrief({ root: process.argv[2] ?? "." })
process.stdout.write(JSON.stringify({ mode, warnings }))
