/** How a user names a run: by its id, or by one of three words for the newest of a kind. */
import type { Run } from "./run.ts"

export const RUN_REFERENCES = {
  "@latest": () => true,
  "@last-failed": (run: Run) => run.status === "failed",
  "@last-completed": (run: Run) => run.status === "succeeded",
} as const satisfies Record<string, (run: Run) => boolean>

export type RunReference =
  | { readonly tag: "id" }
  | { readonly tag: "unknown" }
  | { readonly tag: "newest"; readonly accepts: (run: Run) => boolean }

export const readReference = (text: string): RunReference => {
  if (!text.startsWith("@")) return { tag: "id" }
  const accepts = Object.entries(RUN_REFERENCES).find(([word]) => word === text)?.[1]
  return accepts === undefined ? { tag: "unknown" } : { tag: "newest", accepts }
}
