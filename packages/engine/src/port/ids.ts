import { Context } from "effect"

/** Makes ids for new things. Tests supply their own. */
export class Ids extends Context.Service<
  Ids,
  {
    /** A new, unused id that starts with the prefix. */
    readonly next: (prefix: string) => string
  }
>()("meridian/Ids") {}
