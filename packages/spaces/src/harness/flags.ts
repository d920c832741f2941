/**
 * The flags of each harness, as its own `--help` lists them (opencode 1.18.33, claude 2.1.325, codex 0.166.0). The
 * spelling says how many values follow: `--flag` none, `--flag=` one, `--flag=?` zero or one, `--flag=*` several.
 * Other names of the same flag come before it: `-m|--model=`.
 */
import { isAcp, type BuiltInHarness, type HarnessId } from "../port/harness.ts"

export interface Flag {
  /** The longest name, by which two spellings of one flag compare equal. */
  readonly name: string
  readonly values: "none" | "one" | "optional" | "many"
}

/** How a harness reads a flag, or undefined if it does not know it. */
export const flagOf = (harness: HarnessId, name: string): Flag | undefined =>
  (isAcp(harness) ? [] : SPELLINGS[harness]).map(readSpelling).find(({ names }) => names.includes(name))?.flag

/** The harnesses that know a flag. */
export const harnessesWith = (name: string): readonly HarnessId[] =>
  IDS.filter((harness) => flagOf(harness, name) !== undefined)

/** Every name of every flag. If harnesses differ, the first of them decides how many values follow. */
export const knownFlags = (): readonly { readonly flag: string; readonly values: Flag["values"] }[] => {
  const known = new Map<string, Flag["values"]>()
  for (const spelling of IDS.flatMap((harness) => SPELLINGS[harness])) {
    const { names, flag } = readSpelling(spelling)
    for (const name of names) if (!known.has(name)) known.set(name, flag.values)
  }
  return [...known].map(([flag, values]) => ({ flag, values }))
}

const IDS: readonly BuiltInHarness[] = ["claude", "codex", "opencode", "direct"]

const readSpelling = (spelling: string): { readonly names: readonly string[]; readonly flag: Flag } => {
  const [names = "", values] = spelling.split("=")
  const all = names.split("|")
  return { names: all, flag: { name: all.at(-1) ?? names, values: VALUES[values ?? "none"] ?? "none" } }
}

const VALUES: Readonly<Record<string, Flag["values"]>> = {
  none: "none",
  "": "one",
  "?": "optional",
  "*": "many",
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const SPELLINGS: Readonly<Record<BuiltInHarness, readonly string[]>> = {
  claude: words(`
    --add-dir=* --agent= --agents= --allow-dangerously-skip-permissions --allowed-tools|--allowedTools=*
    --append-system-prompt= --append-system-prompt-file= --autocompact= --ax-screen-reader --bg|--background --bare
    --betas=* --brief --chrome --cloud=? -c|--continue --dangerously-skip-permissions -d|--debug=? --debug-file=
    --desktop --disable-slash-commands --disallowed-tools|--disallowedTools=* --effort= --environment=
    --exclude-dynamic-system-prompt-sections --fallback-model= --file=* --fork-session --forward-subagent-text
    --from-pr=? --ide --include-hook-events --include-partial-messages --input-format= --json-schema=
    --max-budget-usd= --max-turns= --mcp-config=* --model= -n|--name= --no-chrome --no-session-persistence
    --output-format= --permission-mode= --permission-prompt-tool= --permission-prompts= --plugin-dir= --plugin-url=
    -p|--print --prompt-suggestions=? --remote-control=? --remote-control-session-name-prefix= --replay-user-messages
    --restricted -r|--resume=? --safe-mode --session-id= --setting-sources= --settings= --strict-mcp-config
    --system-prompt= --system-prompt-file= --system-prompt-snapshot= --teleport=? --tmux --tools=* --verbose
    -w|--worktree=?`),
  codex: words(`
    --add-dir= --all --approve-for-me -a|--ask-for-approval= -C|--cd= --color= -c|--config= --cyber-access-program=
    --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust --disable= --enable= --ephemeral
    --ignore-rules --ignore-user-config -i|--image= --include-non-interactive --json --last --local-provider=
    -m|--model= --no-alt-screen --no-daemon --oss -o|--output-last-message= --output-schema= -p|--profile= --remote=
    --remote-auth-token-env= -s|--sandbox= --search --skip-git-repo-check --strict-config --thread-source=
    --worktree`),
  opencode: words(`
    --agent= --attach= --auto --command= -c|--continue --cors= --dir= -f|--file= --fork --format= --hostname=
    -i|--interactive --log-level= --mdns --mdns-domain= --mini -m|--model= --no-replay -p|--password= --port=
    --print-logs --prompt= --pure --replay-limit= -s|--session= --share --thinking --title= -u|--username=
    --variant=`),
  direct: words("--max-turns="),
}
