/**
 * The next turn of the event loop. This is an order and no time: whatever is due now has happened by then. It stands apart
 * from `time.ts`, so that a model can be used without loading Effect.
 */
export const nextTurn = (): Promise<undefined> =>
  new Promise((resolve) => setImmediate(() => resolve(undefined)))
