/** Extensions: what can be added to a running engine. */
export { ExtensionHost } from "./extension-host.ts"
export { HOOK_NAMES } from "./extension.ts"
export type { Extension, ExtensionHooks, HookOptions } from "./extension.ts"
