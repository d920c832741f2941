/**
 * Places outside the project that the session may look at. The model knows their names and reads them with the ordinary
 * tools and permissions.
 */
import type { ContextSource } from "../port/context-source.ts"

export interface Reference {
  readonly name: string
  readonly path: string
  readonly description?: string
}

export const referencesSource = (references: readonly Reference[]): ContextSource => ({
  key: "core/references",
  observe: () =>
    references.length === 0
      ? { kind: "absent" }
      : {
          kind: "value",
          value: references.map(({ name, path, description = "" }) =>
            `- ${name}: ${path} ${description}`.trim(),
          ),
        },
  baseline: (value) => `References you may look at:\n${Array.isArray(value) ? value.join("\n") : ""}`,
  update: (_previous, value) =>
    `The references changed. These supersede the list given before:\n${Array.isArray(value) ? value.join("\n") : ""}`,
  removal: () => "The references listed before are no longer available.",
})
