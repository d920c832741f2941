export { isRetryable, ModelFailure, type Model } from "./port/model.ts"
export { ToolError, type Tool } from "./port/tool.ts"
