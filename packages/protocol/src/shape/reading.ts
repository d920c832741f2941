/** The edges where values come in differ in what they forgive and in how names are written; the shape stays the same. */
export interface Reading {
  /** Keys nobody knows: refused with the nearest name (the default), left out, or kept. */
  readonly unknown?: "refuse" | "strip" | "keep"
  /** `snake`: `runId` is `run_id` outside. Keys of maps are data and stay. */
  readonly names?: "same" | "snake"
  /** What models and command lines send: numbers and booleans as text, null for absent, other names of a field. */
  readonly loose?: boolean
}
