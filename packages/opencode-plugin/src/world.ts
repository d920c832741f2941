/** Everything the plugin takes from outside, in one value: tests give their own, `index.ts` gives the real one. */
export interface World {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: string
  /** Milliseconds that only go forward. */
  readonly clock: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after so many milliseconds, unless cancelled; does not keep the process alive. */
  readonly wait: (ms: number) => { readonly over: Promise<void>; readonly cancel: () => void }
  readonly print: (line: string) => void
  /** Stderr is a terminal: the host may be drawing on it. */
  readonly isScreen: boolean
}

/** A hook may take 250 ms in all. What follows fits into it, with room for work that cannot be interrupted. */
export const TIME_LIMITS = {
  /** The whole of a hook, from its first look to its answer. */
  hookMs: 220,
  /** After this no further file is read. */
  workMs: 150,
  /** One call of the host that a hook waits for; a slower answer is used when it comes. */
  clientMs: 50,
} as const

/** How long a hook still may work. Whatever reads files is given what is left, so that the sum keeps the limit. */
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

/** Waits for the work at most so long. A rejection is the caller's; work that comes late is not lost, only not waited for. */
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
