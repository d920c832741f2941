/** `meridian acp`: the sessions of a project for an editor, over this process's stdin and stdout. */
import type { Engine, SessionInfo } from "@meridian/engine"
import { serveAcp, type OpenedSession, type SessionWish } from "@meridian/server"
import { implement, type InputOf, type World } from "@meridian/spaces"

import { besideSupervisor } from "../beside-supervisor.ts"
import { idsOf, openEngineHere } from "../direct/open-engine-here.ts"
import { VERSION } from "../version.ts"
import { ACP } from "./acp.meta.ts"
import { lookWithEngine } from "./look-with-engine.ts"

export const acp = implement(ACP, {
  run: async (input, world) => {
    await besideSupervisor(world, () =>
      serveAcp({
        open: (wish) => openForEditor(wish, input, world),
        browse: (directory, look) => lookWithEngine(undefined, { ...world, cwd: directory }, look),
        directory: world.cwd,
        version: VERSION,
        uuid: world.uuid,
        input: process.stdin,
        output: process.stdout,
        signal: world.signal,
      }),
    )
    return {}
  },
  text: () => "",
})

const openForEditor = async (
  wish: SessionWish,
  choices: InputOf<typeof ACP.fields>,
  world: World,
): Promise<OpenedSession> => {
  const { engine, models, model, defaultModel, agents } = await openEngineHere(
    {
      mcp: wish.mcpServers,
      recover: wish.session === undefined ? [] : [wish.session],
      ...(choices.model === undefined ? {} : { model: choices.model }),
      ...(choices.permission === undefined ? {} : { permission: choices.permission }),
    },
    // Its project is the one the editor has open, wherever the editor was started.
    { ...world, cwd: wish.directory },
  )
  try {
    const session = await obtain(engine.sessions, wish, model)
    return { engine, session, models: idsOf(models), defaultModel, agents }
  } catch (error) {
    await engine.close()
    throw error
  }
}

const obtain = (
  sessions: Engine["sessions"],
  { session, directory }: SessionWish,
  model: string | undefined,
): Promise<SessionInfo> =>
  session === undefined
    ? sessions.create({ location: { directory }, ...(model === undefined ? {} : { model }) })
    : sessions.get(session)
