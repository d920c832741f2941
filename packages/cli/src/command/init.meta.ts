import { BOOLEAN, defineMeta, objectOf, STRING } from "@meridian/spaces"

export const INIT = defineMeta({
  name: "init",
  audience: "human",
  summary: "Write .meridian/config.toml with every option explained; never overwrites.",
  fields: {},
  output: objectOf({ path: STRING, created: BOOLEAN }),
})
