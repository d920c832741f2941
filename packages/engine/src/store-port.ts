/** For authors of a store: the port, and what the domain says about events. */
export { claimsOf, type Claim } from "./domain/claims.ts"
export { describeEvent } from "./domain/describe-event.ts"
export type { DatedEvent } from "./domain/fork.ts"
export { LIMITS } from "./domain/limits.ts"
export type { LoggedEvent } from "./domain/logged-event.ts"
export type { GivenApproval, SavedApproval } from "./domain/permission.ts"
export { nextTitle } from "./domain/title.ts"
export { NEVER } from "./domain/transcript/parking.ts"
export { Ids } from "./port/ids.ts"
export { KeptOutputs, storeLayer, type OpenedStore, type OutputVerbs } from "./port/kept-outputs.ts"
export {
  Store,
  type Acquisition,
  type Append,
  type Appended,
  type Change,
  type Creation,
  type Draft,
  type EventFrames,
  type EventRange,
  type Fence,
  type Hit,
  type OpenQuestion,
  type OpenRequest,
  type Placed,
  type SessionSummary,
  type StoreVerbs,
  type Stretch,
} from "./port/store.ts"
