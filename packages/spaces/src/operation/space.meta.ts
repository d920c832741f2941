import { BOOLEAN, INTEGER, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"

import { RUN_STATUSES } from "../domain/run-status.ts"
import { defineMeta } from "./operation.ts"

const SPACE_ARGUMENT = {
  type: "string",
  description: "Space id.",
  positional: true,
  required: true,
  value: "SPACE",
} as const

const SPACE_OPTIONAL = {
  type: "string",
  description: "Space id; without one, all of them.",
  positional: true,
  value: "SPACE",
} as const

const STATUS = oneOf("active", "closed", "damaged")

export const SPACE_LIST = defineMeta({
  name: "space.list",
  audience: "human",
  summary: "List the spaces, the last used first.",
  fields: {
    limit: { type: "integer", description: "At most this many.", default: 10, minimum: 1, value: "N" },
  },
  output: objectOf({
    spaces: listOf(
      objectOf(
        { space_id: STRING, status: STATUS },
        { name: STRING, started_at: STRING, finished_at: STRING, last_active_at: STRING },
      ),
    ),
  }),
})

export const SPACE_SHOW = defineMeta({
  name: "space.show",
  audience: "human",
  summary: "Show a space with its chats, which of them are live, and how to continue each.",
  fields: { spaceId: SPACE_ARGUMENT },
  output: objectOf(
    {
      space_id: STRING,
      status: STATUS,
      started_at: STRING,
      fs_path: STRING,
      chats: listOf(
        objectOf(
          { chat_id: STRING, alive: BOOLEAN, harness: STRING, model: STRING, started_at: STRING },
          {
            harness_session_id: STRING,
            agent: STRING,
            run_id: STRING,
            stopped_at: STRING,
            cwd: STRING,
            resume_command: STRING,
          },
        ),
      ),
      run_ids: listOf(STRING),
      runs: listOf(objectOf({ run_id: STRING, status: oneOf(...RUN_STATUSES) }, { task: STRING })),
    },
    { name: STRING, finished_at: STRING },
  ),
})

export const SPACE_CLOSE = defineMeta({
  name: "space.close",
  audience: "human",
  summary: "Close a space: end its chats and runs, and take no more.",
  fields: { spaceId: SPACE_ARGUMENT },
  output: objectOf(
    {
      space_id: STRING,
      status: STATUS,
      stopped_chats: listOf(STRING),
      cancelled_runs: listOf(STRING),
      removed_locks: INTEGER,
    },
    { name: STRING, finished_at: STRING, still_alive: listOf(STRING) },
  ),
  details:
    "Asks on a terminal if chats or runs are still live, unless --yes is given. Nothing is committed to git. Exit code 1 if a chat could not be ended.",
})

export const SPACE_REBIND = defineMeta({
  name: "space.rebind",
  audience: "human",
  summary: "Adopt spaces at this place, after their project was moved.",
  fields: {
    spaceId: SPACE_OPTIONAL,
  },
  output: objectOf({
    spaces: listOf(objectOf({ space_id: STRING, chats: INTEGER, runs: INTEGER }, { from: STRING })),
    sessions: INTEGER,
    database: BOOLEAN,
    schedules: INTEGER,
  }),
  details:
    "Directories and flags of chats, and plans of runs, only count in the project they were made for. This finds their old place, adopts them at this one, and moves schedules and sessions of the engine too; waiting runs resume. Records your Meridian did not write stay as they are. Without SPACE it adopts all of them. Worktrees of runs are not moved.",
  examples: ["space rebind", "space rebind s1"],
})
