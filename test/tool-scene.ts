/** What a tool's test needs: a new directory, a scene that remembers the questions asked, and the text of an answer. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { TodoItem } from "@meridian/protocol"

import type { PermissionQuestion, ToolOutput, ToolScene } from "../packages/engine/src/port/tool.ts"

export interface Workspace extends AsyncDisposable {
  /** Holds `project` and whatever the test puts next to it. */
  readonly base: string
  readonly root: string
  readonly directory: string
  readonly outputDirectory: string
}

export const openWorkspace = async (): Promise<Workspace> => {
  const base = await realpath(await mkdtemp(join(tmpdir(), "meridian-tool-")))
  const root = join(base, "project")
  await mkdir(root)
  return {
    base,
    root,
    directory: root,
    outputDirectory: join(base, "data", "tool-output"),
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  }
}

export interface RecordedScene extends ToolScene {
  readonly questions: readonly PermissionQuestion[]
}

export const openScene = (
  options: {
    readonly signal?: AbortSignal
    readonly ask?: (question: PermissionQuestion) => Promise<void> | void
    readonly callID?: string
  } = {},
): RecordedScene => {
  const questions: PermissionQuestion[] = []
  let todo: readonly TodoItem[] = []
  return {
    sessionID: "ses_1",
    agent: "build",
    messageID: "msg_1",
    callID: options.callID ?? "call_1",
    signal: options.signal ?? new AbortController().signal,
    questions,
    ask: async (question) => {
      questions.push(question)
      await options.ask?.(question)
    },
    question: async () => [],
    task: () => Promise.reject(new Error("no task")),
    todo: {
      read: async () => todo,
      replace: async (items) => {
        todo = items
      },
    },
  }
}

export const textOf = (output: ToolOutput): string =>
  output.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
