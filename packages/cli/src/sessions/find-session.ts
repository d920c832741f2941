/** A session by its name, for the command that continues it. */
import { Failure } from "@meridian/protocol"
import { shellLine, type FoundSession, type World } from "@meridian/spaces"

import { lookWithEngine } from "../command/look-with-engine.ts"
import { openConversation } from "./open-conversation.ts"
import { readSessionName, type SessionName } from "./session-name.ts"

type Surroundings = Pick<World, "env" | "cwd">

/** Undefined if there is none. Throws for a session of pi, which is not one of our harnesses. */
export const findSession = async (text: string, world: Surroundings): Promise<FoundSession | undefined> => {
  const name = readSessionName(text)
  if (name.keeper === "engine") return ofTheEngine(name.id, world)
  const found = await ofAnother(name, world)
  if (found === undefined) return undefined
  if (name.keeper === "pi")
    throw new Failure("USAGE", {
      problem: "Meridian does not start pi.",
      next: `import the session: ${shellLine(["meridian", "session", "import", text])}.`,
    })
  return { harness: name.keeper, id: name.id, ...found }
}

const ofTheEngine = async (id: string, world: Surroundings): Promise<FoundSession | undefined> =>
  lookWithEngine(undefined, world, ({ sessions }) => sessions.get(id)).then(
    () => ({ harness: "direct", id }),
    () => undefined,
  )

const ofAnother = async (
  name: SessionName,
  world: Surroundings,
): Promise<{ readonly directory?: string } | undefined> => {
  try {
    await using conversation = await openConversation(name, world)
    const { directory } = conversation.about
    return directory === undefined ? {} : { directory }
  } catch (error) {
    if (error instanceof Failure && error.code === "SESSION_NOT_FOUND") return undefined
    throw error
  }
}
