/**
 * Waits for the next turn of the event loop. This is about order, not time: whatever is due now has then happened. It is
 * separate from `time.ts` so that a model can be used without loading Effect.
 */
export const nextTurn = (): Promise<undefined> =>
  new Promise((resolve) => setImmediate(() => resolve(undefined)))
