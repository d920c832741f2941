import type { Command, Flag, Grammar, Value } from "./grammar.ts"

export const zshScript = ({ commands, groups, heads, globalFlags }: Grammar): string => {
  const pairs = commands.map(({ name }) => name).filter((name) => name.includes(" "))
  const withValue = globalFlags.filter(({ value }) => value !== undefined).map(({ name }) => name)
  return `#compdef meridian
_meridian_names() {
  local -a rows=("\${(@f)$(meridian complete $1 2>/dev/null)}")
  rows=("\${(@)rows//:/\\\\:}")
  rows=("\${(@)rows/$'\\t'/:}")
  rows=("\${(@)rows:#}")
  _describe -V "$1" rows
}
_meridian() {
  local command
  while (( CURRENT > 2 )) && [[ "$words[2]" == -* ]]; do
    if [[ "$words[2]" == (${withValue.join("|")}) ]]; then (( CURRENT > 3 )) || break; shift words; (( CURRENT-- )); fi
    shift words; (( CURRENT-- ))
  done
  if [[ "$words[2]" == -* ]]; then
    _arguments -s ${globalFlags.map(flagArgument).join(" ")}
    return
  fi
  if (( CURRENT == 2 )); then
    local -a commands=(${heads.map(({ word, summary }) => pair(word, summary)).join(" ")})
    _describe 'command' commands
    return
  fi
  command="$words[2]"
  if (( CURRENT == 3 )); then
    local -a actions
    case "$command" in
${groups.map(({ name, members }) => `      ${name}) actions=(${members.map(({ word, summary }) => pair(word, summary)).join(" ")}) ;;`).join("\n")}
    esac
    if (( $#actions )); then _describe 'command' actions; fi
  else
    case "$command $words[3]" in
      ${pairs.map(quote).join("|")}) command="$command $words[3]"; shift words; (( CURRENT-- )) ;;
    esac
  fi
  shift words; (( CURRENT-- ))
  case "$command" in
${commands.map((command) => `    '${command.name}') _arguments -s ${argumentsOf(command)} ;;`).join("\n")}
  esac
}
if [ "$funcstack[1]" = "_meridian" ]; then _meridian "$@"; else compdef _meridian meridian; fi`
}

const argumentsOf = ({ flags, values }: Command): string =>
  [
    ...flags.map(flagArgument),
    ...values.map((value, index) =>
      quote(`${index === values.length - 1 ? "*" : index + 1}:${action(value)}`),
    ),
  ].join(" ")

const flagArgument = ({ name, description, value }: Flag): string => {
  const text = description.replaceAll(/[[\]]/g, "").replaceAll(":", "\\:")
  const both = value !== undefined && name.startsWith("--") ? "=" : ""
  return quote(`${name}${both}[${text}]${value === undefined ? "" : `:${action(value)}`}`)
}

/** The text after the last colon says how to complete it; a space means not at all. */
const action = ({ choices, kind }: Value): string => {
  if (choices.length > 0) return `value:(${choices.join(" ")})`
  if (kind === undefined) return "value: "
  return kind === "file" ? "file:_files" : `${kind}:{_meridian_names ${kind}}`
}

const pair = (word: string, text: string): string => quote(`${word}:${text.replaceAll(":", "\\:")}`)

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
