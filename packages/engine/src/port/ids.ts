import { Context } from "effect"

/** Names for what is new. A test decides them. */
export class Ids extends Context.Service<
  Ids,
  {
    /** One that nobody has used, beginning with the prefix. */
    readonly next: (prefix: string) => string
  }
>()("meridian/Ids") {}
