import { oneLine } from "@meridian/protocol"

import { newestPerChat } from "../domain/chat.ts"
import { byNumber } from "../domain/identifier.ts"
import { spaceTitle } from "../domain/space.ts"
import { liveChats, readChats } from "../store/chat-store.ts"
import { spacePlace } from "../store/place.ts"
import { readRuns } from "../store/run-store.ts"
import { findSpace } from "../store/space-store.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { sparse } from "./run-document.ts"
import { taskOf } from "./run-look.ts"
import { SPACE_SHOW } from "./space.meta.ts"
import { columns } from "./text-table.ts"

export const spaceShow = implement(SPACE_SHOW, {
  run: async (input, world) => {
    const state = openState(world)
    const space = findSpace(state.place, input.spaceId)
    const place = spacePlace(state.place, space.id)
    const chats = newestPerChat(readChats(place, state.onDamage)).toSorted((left, right) =>
      byNumber(left.chatId, right.chatId),
    )
    const live = await liveChats(place, chats)
    const runs = readRuns(place, state.onDamage)
    return sparse({
      space_id: space.id,
      status: space.status,
      name: space.name,
      started_at: space.startedAt,
      finished_at: space.finishedAt,
      fs_path: place.fs,
      chats: chats.map((chat) =>
        sparse({
          chat_id: chat.chatId,
          alive: live.has(chat.chatId),
          harness: chat.harness,
          model: chat.model,
          started_at: chat.startedAt,
          harness_session_id: chat.harnessSessionId === "" ? undefined : chat.harnessSessionId,
          agent: chat.agent,
          run_id: chat.runId,
          stopped_at: chat.stoppedAt,
          cwd: chat.cwd,
          resume_command:
            live.has(chat.chatId) || space.status === "closed"
              ? undefined
              : `meridian start --space ${space.id} --continue ${chat.chatId}`,
        }),
      ),
      run_ids: runs.map((run) => run.id),
      runs: runs.map((run) =>
        sparse({ run_id: run.id, status: run.status, task: taskOf(place, run) || undefined }),
      ),
    })
  },
  text: (space) => {
    const title = spaceTitle({
      id: space.space_id,
      name: space.name,
    })
    const rows = space.chats.map((chat) => [
      chat.chat_id,
      chat.alive ? "alive" : "ended",
      chat.harness,
      chat.model === "" ? "-" : chat.model,
      chat.resume_command ?? "",
    ])
    return [
      `Space: ${title}`,
      `Status: ${space.status}`,
      `Started: ${space.started_at}`,
      ...(space.finished_at === undefined ? [] : [`Finished: ${space.finished_at}`]),
      `Files: ${space.fs_path}`,
      `Runs:${space.runs.length === 0 ? " -" : ""}`,
      ...(space.runs.length === 0
        ? []
        : [
            columns(
              space.runs.map((run) => [run.run_id, run.status, oneLine(run.task ?? "", TASK_CHARACTERS)]),
            ),
          ]),
      `Chats:${rows.length === 0 ? " -" : ""}`,
      ...(rows.length === 0 ? [] : [columns(rows)]),
    ].join("\n")
  },
})

const TASK_CHARACTERS = 60
