/** Every operation of spaces. The order is the order of help and of the reference page. */
import { CONFIG_GET, CONFIG_RESET, CONFIG_SET, CONFIG_SHOW } from "./config.meta.ts"
import { MODELS_LIST, MODELS_SHOW } from "./models.meta.ts"
import { register, type Registration } from "./operation.ts"
import { SKILLS_LIST, SKILLS_SHOW } from "./skills.meta.ts"

export const OPERATIONS: readonly Registration[] = [
  register(SKILLS_LIST, async () => (await import("./skills.ts")).skillsList),
  register(SKILLS_SHOW, async () => (await import("./skills.ts")).skillsShow),
  register(MODELS_LIST, async () => (await import("./models.ts")).modelsList),
  register(MODELS_SHOW, async () => (await import("./models.ts")).modelsShow),
  register(CONFIG_SHOW, async () => (await import("./config.ts")).configShow),
  register(CONFIG_GET, async () => (await import("./config.ts")).configGet),
  register(CONFIG_SET, async () => (await import("./config.ts")).configSet),
  register(CONFIG_RESET, async () => (await import("./config.ts")).configReset),
]
