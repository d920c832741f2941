import type { Command, Flag, Grammar, Value } from "./grammar.ts"

/**
 * Reads the line itself, because bash splits words at `=` and `:`. Names are compared here and not by `compgen -W`,
 * which would execute code inside a name. Files are left to bash, which knows how to quote them. Works in the bash
 * 3.2 of macOS.
 */
export const bashScript = ({
  commands,
  groups,
  heads,
  globalFlags,
}: Grammar): string => `# bash completion of meridian
_meridian() {
  local line="\${COMP_LINE:0:COMP_POINT}" command="" words="" files="" head="" skip="" word list
  local current="\${line##*[[:space:]]}" previous flags=""
  read -r -a list <<< "\${line%"$current"}"
  previous="\${list[\${#list[@]}-1]}"
  for word in "\${list[@]:1}"; do
    if [ -n "$skip" ]; then skip=""; continue; fi
    case "$word" in
      ${patterns(globalFlags.filter(({ value }) => value !== undefined).map(({ name }) => name))}) skip=1 ;;
      -*) ;;
      *) case "$command $word" in
           " "*) command="$word" ;;
           ${patterns(commands.map(({ name }) => name).filter((name) => name.includes(" ")))}) command="$command $word" ;;
           *) break ;;
         esac ;;
    esac
  done
  case "$current" in
    --*=*) previous="\${current%%=*}"; current="\${current#*=}" ;;
    *:*) head="\${current%:*}:" ;;
  esac
  case "$command $previous" in
${flagCases([{ name: "", flags: globalFlags }, ...commands])}
    *) case "$command" in
      "") words="${[...heads.map(({ word }) => word), ...globalFlags.map(({ name }) => name)].join(" ")}" ;;
${groups
  .filter(({ name }) => commands.every((command) => command.name !== name))
  .map(
    ({ name, members }) => `      "${name}") words="${members.map(({ word }) => word).join(" ")} --help" ;;`,
  )
  .join("\n")}
${commands.map((command) => `      "${command.name}") ${offerOf(command, groups)} ;;`).join("\n")}
    esac ;;
  esac
  COMPREPLY=()
  read -r -d '' -a list <<< "$words"
  for word in "\${list[@]}"; do
    if [[ "$word" != "$current"* ]]; then continue; fi
    if [[ "$word" == -* && -z "$current" ]]; then flags="$flags $word"; else COMPREPLY+=("\${word#"$head"}"); fi
  done
  if [ "\${#COMPREPLY[@]}" = 0 ] && [ -z "$files" ]; then read -r -a COMPREPLY <<< "$flags"; fi
  if [ -n "$files" ] && [[ "$current" != -* ]]; then
    COMPREPLY=()
    compopt -o default 2>/dev/null || while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  fi
}
complete -F _meridian meridian`

const patterns = (words: readonly string[]): string => words.map((word) => `"${word}"`).join("|")

/** Groups flags that take the same values. */
const flagCases = (commands: readonly Pick<Command, "name" | "flags">[]): string => {
  const byOffer = new Map<string, string[]>()
  for (const { name, flags } of commands)
    for (const { name: flag, value } of flags)
      if (value !== undefined)
        byOffer.set(offer([value]), [...(byOffer.get(offer([value])) ?? []), `${name} ${flag}`])
  return [...byOffer].map(([given, flags]) => `    ${patterns(flags)}) ${given} ;;`).join("\n")
}

const offerOf = ({ name, values, flags }: Command, groups: Grammar["groups"]): string => {
  const members = groups.find((group) => group.name === name)?.members ?? []
  return offer(values, [...members.map(({ word }) => word), ...flags.map((flag: Flag) => flag.name)])
}

const offer = (values: readonly Value[], more: readonly string[] = []): string => {
  const words = values.flatMap(({ choices, kind }) =>
    choices.length > 0 || kind === undefined || kind === "file"
      ? choices
      : [`$(meridian complete ${kind} 2>/dev/null | cut -f 1)`],
  )
  const files = values.some(({ kind }) => kind === "file") ? " files=1" : ""
  return `words="${[...words, ...more].join(" ")}"${files}`
}
