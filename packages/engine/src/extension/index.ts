/** What is added to an engine while it runs. */
export { ExtensionHost } from "./extension-host.ts"
export { HOOK_NAMES } from "./extension.ts"
export type { Extension, ExtensionHooks, HookOptions } from "./extension.ts"
