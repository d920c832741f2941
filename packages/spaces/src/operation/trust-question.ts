/**
 * The question a person gets once when a folder would decide something for them: what it is, and whether it may. The
 * trust book keeps the answer, and the next read of the configuration obeys it. Without a terminal the question is
 * not asked, and the folder stays untrusted.
 */
import { createHash } from "node:crypto"

import { claimsText } from "../domain/claim.ts"
import { putEntry } from "../domain/trust.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { changeTrustBook } from "../store/trust-store.ts"
import { readConfig } from "./config.ts"
import { folderOf } from "./folder-trust.ts"
import { isoTime } from "./state.ts"
import { surveyFolder, type Survey } from "./survey-folder.ts"
import { claimLines, defaultTier, trustFolder } from "./trust.ts"
import type { World } from "./world.ts"

/** The first step of `start`, `direct` and `serve`: ask about the folder, or report which of its values do not count. */
export const enterFolder = async (world: World): Promise<LoadedConfig> => {
  await settleTrust(world)
  return readConfig(world)
}

const settleTrust = async (world: World): Promise<void> => {
  if (world.mode === "agent" || world.face === "tool") return
  if (!world.terminal.stdin || !world.terminal.stderr) return
  const survey = await surveyFolder(world)
  const refused = digestOf(survey)
  if (survey.open.length === 0 || survey.entry?.refused === refused) return
  const { path } = folderOf(survey.place)
  const tier = survey.entry?.tier ?? defaultTier(survey)
  world.stderr.write(
    [
      survey.entry?.tier === undefined
        ? `${path} is not trusted yet. Its files would decide:`
        : `${path} is trusted, but its files changed. They would now decide:`,
      claimLines(survey.open.map((claim) => ({ ...claim, value: claim.shown }))),
      "",
    ].join("\n"),
  )
  const yes = await world.confirm(`Trust this folder with that, and with rights up to ${tier}?`)
  world.signal.throwIfAborted()
  if (yes) await trustFolder(survey, { tier, world })
  else await remember(survey, refused, world)
}

const digestOf = ({ open }: Survey): string => createHash("sha256").update(claimsText(open)).digest("hex")

/** A no is an answer too: the same question does not come again. Earlier trust stays. */
const remember = (survey: Survey, refused: string, world: World): Promise<void> => {
  const folder = folderOf(survey.place)
  return changeTrustBook(world.env, (book) => {
    const known = survey.entry ?? { ...folder, id: world.uuid(), values: {}, at: isoTime(world.clock.now()) }
    return putEntry(book, { ...known, refused }) ?? book
  })
}
