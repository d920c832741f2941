/** Edges differ in what they tolerate and in how they write names. The shape stays the same. */
export interface Reading {
  /** Unknown keys: refused with the nearest name (default), left out, or kept. */
  readonly unknown?: "refuse" | "strip" | "keep"
  /** `snake`: `runId` is `run_id` outside. Keys of maps are data and stay. */
  readonly names?: "same" | "snake"
  /** Accepts what models and command lines send: numbers and booleans as text, null for absent, alternative field names. */
  readonly loose?: boolean
}
