/** Every operation of spaces. The order is the order of help and of the reference page. */
import { CONFIG_GET, CONFIG_RESET, CONFIG_SET, CONFIG_SHOW } from "./config.meta.ts"
import { register, type Registration } from "./operation.ts"

export const OPERATIONS: readonly Registration[] = [
  register(CONFIG_SHOW, async () => (await import("./config.ts")).configShow),
  register(CONFIG_GET, async () => (await import("./config.ts")).configGet),
  register(CONFIG_SET, async () => (await import("./config.ts")).configSet),
  register(CONFIG_RESET, async () => (await import("./config.ts")).configReset),
]
