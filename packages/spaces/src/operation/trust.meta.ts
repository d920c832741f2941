import { BOOLEAN, STRING, described, listOf, objectOf, oneOf } from "@meridian/protocol"

import { CLAIM_KINDS } from "../domain/claim.ts"
import { FILE_TIERS } from "../domain/tier.ts"
import { defineMeta } from "./operation.ts"

const FOLDER_ARGUMENT = {
  type: "string",
  description: "A folder of the project; default is the one you are in.",
  positional: true,
  value: "DIR",
} as const

export const CLAIM = objectOf({ kind: oneOf(...CLAIM_KINDS), key: STRING, value: STRING, where: STRING })

export const TIER_FIELD = {
  type: "string",
  description:
    "The highest tier that files of the folder may ask for; default is your permissions.default_tier.",
  choices: FILE_TIERS,
  value: "TIER",
} as const

export const TRUST = defineMeta({
  name: "trust",
  audience: "human",
  summary: "Trust a folder: let its files name the programs, providers and rights they name now.",
  fields: {
    directory: FOLDER_ARGUMENT,
    tier: TIER_FIELD,
    dryRun: { type: "boolean", description: "Show what the files of the folder decide; trust nothing." },
  },
  output: objectOf(
    { path: STRING, trusted: BOOLEAN, tier: oneOf(...FILE_TIERS), decides: listOf(CLAIM) },
    { dry_run: BOOLEAN },
  ),
  details:
    "Trust covers the values that are shown: if one of them changes, it is ignored until you trust the folder again. Trust is kept in $XDG_STATE_HOME/meridian/trust (by default in ~/.local/state; MERIDIAN_TRUST names another file), never in the folder. 'meridian trust list' shows every folder; for a folder called list, write ./list.",
  examples: ["trust", "trust --dry-run", "trust ../app --tier workspace-write"],
})

export const TRUST_LIST = defineMeta({
  name: "trust.list",
  audience: "human",
  summary: "List the folders you trust, with what they may decide.",
  fields: {},
  output: objectOf({
    file: described(STRING, "The trust store; empty when you have no home directory."),
    folders: listOf(
      objectOf({ path: STRING, tier: oneOf(...FILE_TIERS), values: listOf(STRING), at: STRING }),
    ),
  }),
})

export const UNTRUST = defineMeta({
  name: "untrust",
  audience: "human",
  summary: "Stop trusting a folder.",
  fields: { directory: FOLDER_ARGUMENT },
  output: objectOf({ path: STRING, removed: BOOLEAN }),
  examples: ["untrust", "untrust ../app"],
})
