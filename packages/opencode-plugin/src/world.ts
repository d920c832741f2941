/** Everything the plugin takes from outside, in one value. Tests supply their own, `index.ts` the real one. */
export interface World {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: string
  /** Milliseconds that never go back. */
  readonly clock: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after this time, unless cancelled. Does not keep the process alive. */
  readonly wait: (ms: number) => { readonly over: Promise<void>; readonly cancel: () => void }
  readonly print: (line: string) => void
  /** Stderr is a terminal, and the host may be drawing on it. */
  readonly isScreen: boolean
}

/** A hook may take 250 ms in total. These limits fit into that, with room for work that cannot be interrupted. */
export const TIME_LIMITS = {
  /** A whole hook, from its start to its answer. */
  hookMs: 220,
  /** After this no further file is read. */
  workMs: 150,
  /** A call to the host that a hook waits for. A later answer is used when it arrives. */
  clientMs: 50,
} as const

/** How much time a hook has left. Every reader of files gets what is left, so that the total stays within the limit. */
export interface HookTime {
  readonly leftMs: () => number
  readonly spentMs: () => number
}

export const startHookTime = (world: World): HookTime => {
  const begun = world.clock()
  const until = begun + TIME_LIMITS.workMs
  return {
    leftMs: () => Math.max(0, until - world.clock()),
    spentMs: () => Math.round(world.clock() - begun),
  }
}

export type Boxed<Value> = { readonly kind: "done"; readonly value: Value } | { readonly kind: "late" }

/** Waits for the work at most this long. A rejection is passed to the caller. Late work is not lost, only not awaited. */
export const withinTime = async <Value>(
  world: World,
  ms: number,
  work: Promise<Value>,
): Promise<Boxed<Value>> => {
  const wait = world.wait(ms)
  const late = wait.over.then(() => ({ kind: "late" }) as const)
  try {
    return await Promise.race([work.then((value) => ({ kind: "done", value }) as const), late])
  } finally {
    wait.cancel()
  }
}
