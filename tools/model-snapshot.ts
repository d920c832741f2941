/**
 * Makes the bundled snapshot of models from a file in the format of models.dev's api.json:
 *   node --conditions=meridian-source tools/model-snapshot.ts api.json 2026-11-15
 * Only providers with a preset are bundled. A custom name is described in config.toml, and `meridian models update` keeps
 * all of them.
 */
import { readFileSync, writeFileSync } from "node:fs"

import { PROVIDER_PRESETS, readModelsDev, renderLimits } from "@meridian/spaces"

const TARGET = "packages/spaces/src/domain/model-snapshot.ts"

const [file = "", date = ""] = process.argv.slice(2)
if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw new Error("give a file and the date it is from")
const models = (readModelsDev(JSON.parse(readFileSync(file, "utf8"))) ?? []).filter(({ id }) =>
  Object.hasOwn(PROVIDER_PRESETS, id.slice(0, id.indexOf("/"))),
)
if (models.length === 0) throw new Error(`${file} is not in the form of models.dev`)
const text = renderLimits(models, { date, origin: "bundled" })
writeFileSync(
  TARGET,
  `/** Made by tools/model-snapshot.ts; model-limits.ts describes a line. */\nexport const MODEL_SNAPSHOT = \`${text.replaceAll("`", "")}\`\n`,
)
process.stdout.write(`${models.length} models in ${TARGET}\n`)
