/** What the command line asks of a pretend harness. */
import type { PretendCall, PretendName } from "./behaviour.ts"

export interface Invocation {
  readonly mode: PretendCall["mode"]
  readonly session: string
  /** "" when none was named. */
  readonly model: string
  /** It was asked to continue that session, or a copy of another. */
  readonly isResumed: boolean
}

/** `fresh`: the session id that the harness itself would choose. */
export const readInvocation = (name: PretendName, argv: readonly string[], fresh: string): Invocation => ({
  ...READERS[name](argv, fresh),
  model: after(argv, "--model", "-m") ?? "",
})

const after = (argv: readonly string[], ...flags: readonly string[]): string | undefined => {
  const at = argv.findIndex((word) => flags.includes(word))
  return at === -1 ? undefined : argv[at + 1]
}

type Reader = (argv: readonly string[], fresh: string) => Omit<Invocation, "model">

const READERS: Readonly<Record<PretendName, Reader>> = {
  claude: (argv, fresh) => ({
    mode: argv.includes("-p") ? "headless" : "interactive",
    session:
      after(argv, "--session-id") ??
      (argv.includes("--fork-session") ? fresh : (after(argv, "--resume") ?? fresh)),
    isResumed: argv.includes("--resume"),
  }),
  codex: (argv, fresh) => ({
    mode: argv[0] === "exec" ? "headless" : "interactive",
    session: after(argv, "resume") ?? fresh,
    isResumed: argv.includes("resume") || argv.includes("fork"),
  }),
  opencode: (argv, fresh) => ({
    mode: argv[0] === "run" ? "headless" : argv[0] === "session" ? "query" : "interactive",
    session: argv.includes("--fork") ? fresh : (after(argv, "--session", "-s") ?? fresh),
    isResumed: argv.includes("--session") || argv.includes("-s"),
  }),
}
