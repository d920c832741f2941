/**
 * Makes sure that processes of tools do not outlive the engine, even when it is killed. A small shell in its own session
 * reads from a pipe whose other end only the engine holds. When the pipe ends without a good-bye, the shell kills the
 * groups it knows and every process that carries the engine's mark (processes that left their group). Where we have control
 * groups, it also kills processes that left their session and carry no mark.
 *
 * An engine that shares its sessions with other machines may be frozen and taken for dead. It tells the guard how long it
 * can count on its leases. Without a new message in that time, the guard ends the groups, because other nodes may then
 * report them as ended.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"

import { ToolError } from "../port/tool.ts"
import { openControlGroup, type ControlGroup } from "./control-group.ts"
import { endProcesses } from "./end-processes.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { ownerMark } from "./process-mark.ts"
import { findProcesses } from "./process-table.ts"

export interface ProcessGuard {
  /** Must be set in the environment of every guarded process. */
  readonly mark: string
  /** A control group folder. A process that writes its pid into `cgroup.procs` there ends with the engine. */
  readonly controlGroup: () => string | undefined
  /** Starts the guard if it is not running. Call it before starting a process. */
  readonly ready: () => Promise<void>
  /** Until the returned function is called, the group dies with the engine. */
  readonly watch: (group: number) => () => void
  /** The groups die after this time, unless it is called again before. */
  readonly expect: (ms: number) => void
  /** Ends every process that still carries the mark, then the guard itself. */
  readonly close: () => Promise<void>
}

const SCRIPT = `trap '' HUP INT QUIT TERM
groups=
patience=
timer=
countdown() {
  [ -z "$timer" ] || kill -s USR1 "$timer"
  timer=
  [ -n "$patience" ] && [ -n "$groups" ] || return 0
  (
    trap 'kill "$sleeping"; exit' USR1
    sleep "$patience" & sleeping=$!
    wait "$sleeping"
    for one in $groups; do kill -s KILL -- "-$one"; done
  ) & timer=$!
}
while read -r word value; do
  case $word in
  watch) groups="$groups $value"; countdown ;;
  forget)
    kept=
    for one in $groups; do [ "$one" = "$value" ] || kept="$kept $one"; done
    groups=$kept
    countdown ;;
  expect) patience=$value; countdown ;;
  bye) groups=; countdown; exit 0 ;;
  esac
done
for one in $groups; do kill -s KILL -- "-$one"; done
if [ -n "$2" ]; then
  for round in 1 2 3 4 5 6 7 8 9; do
    echo 1 > "$2/cgroup.kill"
    rmdir "$2" && break
    sleep 0.1
  done
fi
for round in 1 2 3 4 5; do
  found=
  for file in $(grep -lsF -e "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" && found=yes
  done
  [ -n "$found" ] || exit 0
done`

export const openProcessGuard = (options: { readonly graceMs?: number } = {}): ProcessGuard => {
  const owner = randomBytes(16).toString("hex")
  const mark = ownerMark(owner)
  let controlGroup: ControlGroup | undefined
  let shell: ChildProcess | undefined
  let starting: Promise<void> | undefined
  let started = false

  const start = async (): Promise<void> => {
    controlGroup ??= openControlGroup(owner)
    const child = spawn("/bin/sh", ["-c", SCRIPT, "meridian-guard", mark, controlGroup?.folder ?? ""], {
      detached: true,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
      stdio: ["pipe", "ignore", "ignore"],
    })
    child.stdin?.on("error", () => undefined)
    try {
      await once(child, "spawn")
    } catch (error) {
      throw new ToolError("failed", "The guard of tool processes could not be started.", { cause: error })
    }
    child.once("exit", () => {
      if (shell === child) shell = undefined
    })
    // The guard must not keep the engine alive.
    child.unref()
    if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function")
      child.stdin.unref()
    shell = child
  }

  return {
    mark,
    controlGroup: () => controlGroup?.folder,
    ready: async () => {
      started = true
      if (shell !== undefined) return
      starting ??= start().finally(() => {
        starting = undefined
      })
      await starting
    },
    watch: (group) => {
      const told = shell
      told?.stdin?.write(`watch ${group}\n`)
      return () => {
        told?.stdin?.write(`forget ${group}\n`)
      }
    },
    expect: (ms) => {
      shell?.stdin?.write(`expect ${(ms / 1_000).toFixed(3)}\n`)
    },
    close: async () => {
      // Nothing was started under this guard, so there is nothing to look for.
      if (!started) return
      await endProcesses({
        graceMs: options.graceMs ?? TOOL_LIMITS.bashGraceMs,
        waitMs: TOOL_LIMITS.leftoversMs,
        find: () => {
          const caught = controlGroup?.processes()
          return findProcesses(
            async ({ pid }, environment) => caught?.has(pid) === true || (await environment()).has(mark),
          )
        },
      })
      await controlGroup?.end()
      await starting?.catch(() => undefined)
      const child = shell
      if (child === undefined) return
      shell = undefined
      child.ref()
      const gone = once(child, "exit")
      child.stdin?.end("bye\n")
      await gone
    },
  }
}
