/** What a prompt named, for people: what was attached, and what could not be read. */
import { oneLine, type RecordedPrompt } from "@meridian/protocol"

const MOST_CHARACTERS = 300

/** One sentence each. */
export const unreadable = ({ parts = [] }: RecordedPrompt): readonly string[] =>
  parts.flatMap((part) =>
    part.type === "unreadable" ? [oneLine(`${part.source}: ${part.problem}`, MOST_CHARACTERS)] : [],
  )

export const broughtAlong = ({ parts = [] }: RecordedPrompt): readonly string[] =>
  parts.flatMap((part) =>
    part.type === "unreadable"
      ? []
      : [
          oneLine(
            part.type === "text" && part.from !== undefined
              ? `${part.name}, lines ${part.from}-${part.through}`
              : part.name,
            MOST_CHARACTERS,
          ),
        ],
  )
