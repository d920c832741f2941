/** What a pretend harness does when it is called. Everything is optional: by default it reads its prompt and answers. */
export type PretendName = "claude" | "codex" | "opencode"

export interface PretendBehaviour {
  /** Its answer; `echo` answers with the prompt. */
  readonly answer?: string | { readonly echo: true }
  /** Plays a recording (path without ending): stdout, stderr and the exit code of its `.meta`. */
  readonly replay?: string
  readonly exitCode?: number
  readonly stderr?: string
  /** Lines printed before the answer, unchanged. */
  readonly noise?: readonly string[]
  /** The first `times` calls fail in the harness's words; later ones answer. */
  readonly failFirst?: {
    readonly times: number
    readonly failure: PretendFailure
    /** Replaces the usual words. */
    readonly words?: string
  }
  /** `before`: prints nothing and stays. `within`: shows its session, then stays. `after`: answers and stays. */
  readonly hang?: "before" | "within" | "after"
  /** Signals that do not end it. */
  readonly ignoreSignals?: readonly NodeJS.Signals[]
  /** Ends itself with a signal after it has shown its session. */
  readonly dieBy?: NodeJS.Signals
  /** Prints that many lines of that many bytes before the answer. */
  readonly flood?: { readonly lines: number; readonly bytes: number }
  /** `late`: reads its stdin only once `release` exists. `unread`: never reads it. `closed`: closes it at once. */
  readonly stdin?: "late" | "unread" | "closed"
  /** Leaves a child behind that holds stdout and stderr open for this many seconds. */
  readonly grandchildSeconds?: number
  /** Waits for this file before it answers, so that a test keeps it running without guessing times. */
  readonly release?: string
  /** Files it writes, relative to its working directory. */
  readonly writes?: Readonly<Record<string, string>>
  /** A command line that it runs there, after writing the files. */
  readonly does?: string
  /** Written to $MERIDIAN_REPORT_PATH. */
  readonly report?: string
  /** Leaves the session files of the real one even without a terminal. */
  readonly keeps?: boolean
  /** Makes one turn after the other, each worth 30 cents, until it is ended; with `keeps` (see `circles.ts`). */
  readonly circles?: { readonly everyMs: number }
  /**
   * Acts as after a tool: asks the hook of its settings (claude) until that has something to say. `kept`: also keeps the
   * answer.
   */
  readonly listens?: "kept" | "unkept"
  /** Does not know the session that it is asked to continue. */
  readonly forgets?: boolean
  /**
   * For a start on a terminal: leaves the session files of the real one. The value is its session id, if the harness
   * chooses it.
   */
  readonly session?: string
}

export type PretendFailure =
  | "rate_limit"
  | "overload"
  | "server_error"
  | "authentication"
  | "context_overflow"

/** One call, appended to `<name>.calls.jsonl` beside the launcher before anything else happens. */
export interface PretendCall {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly pid: number
  readonly mode: "interactive" | "headless" | "query"
  readonly session: string
  /** Absent until stdin was read to its end. */
  readonly stdin?: string
  /** What the hook of its settings answered. */
  readonly heard?: string
  /** The process it left behind. */
  readonly grandchild?: number
  /** The last signal that it ignored. */
  readonly ignored?: string
}
