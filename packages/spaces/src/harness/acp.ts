/**
 * Any agent that speaks the Agent Client Protocol as a harness. It runs this program again with its internal command
 * `acp-agent`, which starts the agent, talks to it and prints the lines of `direct-lines.ts`. The agent's command is
 * not part of the launch: `acp-agent` reads it from the user's configuration, which no file of a project can change.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

import type { HarnessSessionId } from "@meridian/protocol"

import type { AcpHarness, Harness, LaunchPlan, LaunchRequest } from "../port/harness.ts"
import { SESSION_FILE } from "./acp-session-file.ts"
import { directParser } from "./direct.ts"
import { isToldAlready, promptWith, standingText } from "./instructions.ts"
import { fitParams } from "./params.ts"
import { asSession } from "./stream-parser.ts"

export const acp = (id: AcpHarness, program: readonly [string, ...(readonly string[])]): Harness => ({
  id,
  name: id,
  binary: program[0],
  steering: "message",
  capabilities: {
    fork: false,
    chooseSession: false,
    reopenSession: false,
    nativeAgent: false,
    nativeSkills: false,
    systemPrompt: false,
    cost: true,
    interactive: true,
    schema: false,
  },
  launch: (request) => launch(id, program, request),
  parser: () => directParser(),
  findSession: ({ environment }) => Promise.resolve(readSession(environment[SESSION_FILE])),
  // The reported usage counts from the start of the run.
  usageBefore: () => Promise.resolve(undefined),
})

const launch = (
  id: AcpHarness,
  [command, ...first]: readonly [string, ...(readonly string[])],
  request: LaunchRequest,
): LaunchPlan => {
  const headless = request.mode === "headless"
  const { session } = request
  const fitted = fitParams({ id, name: id }, request.params ?? [])
  const permission = request.permission ?? (headless ? "read-only" : undefined)
  const prompt = promptWith(isToldAlready(request) ? "" : standingText(request), request.prompt ?? "")
  return {
    command: request.binary ?? command,
    args: [
      ...first,
      "acp-agent",
      id.slice("acp:".length),
      ...(headless ? ["--headless"] : []),
      ...(session.kind === "new" ? [] : ["--continue", session.id]),
      ...(request.model === undefined ? [] : ["--model", request.model]),
      ...(permission === undefined ? [] : ["--permission", permission]),
      ...(headless || prompt === "" ? [] : ["--launch", join(request.scratch, LAUNCH)]),
      // The person's words for the agent itself, after its own.
      ...(fitted.args.length === 0 ? [] : ["--", ...fitted.args]),
    ],
    cwd: request.cwd,
    environment: {
      PWD: request.cwd,
      ...(headless ? {} : { [SESSION_FILE]: join(request.scratch, "acp-session") }),
    },
    stdin: headless ? { kind: "text", text: prompt } : { kind: "inherit" },
    files: headless || prompt === "" ? [] : [{ path: join(request.scratch, LAUNCH), content: prompt }],
    ...(session.kind === "continue" ? { harnessSessionId: session.id } : {}),
    warnings: [
      ...fitted.warnings,
      ...(request.effort === undefined
        ? []
        : [
            {
              code: "UNSUPPORTED_FLAG" as const,
              facts: { flag: `effort ${request.effort}`, harness: id },
            },
          ]),
    ],
  }
}

const LAUNCH = "acp-launch.md"

const readSession = (path: string | undefined): HarnessSessionId | undefined => {
  try {
    return path === undefined ? undefined : asSession(readFileSync(path, "utf8").trim())
  } catch {
    return undefined
  }
}
