/** Every operation of spaces. The order is the order of help and of the reference page. */
import type { Registration } from "./operation.ts"

export const OPERATIONS: readonly Registration[] = []
