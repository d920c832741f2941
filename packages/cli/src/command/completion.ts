/** Completion scripts, written from the same table as help: what is offered there completes here. */
import { flagName, implement, type Field, type OperationMeta } from "@meridian/spaces"

import { COMMANDS } from "../commands.ts"
import { GLOBAL_FLAGS } from "../global-flags.ts"
import { offeredTo } from "../help.ts"
import { COMPLETION } from "./completion.meta.ts"

export const completion = implement(COMPLETION, {
  run: async ({ shell }) => ({ shell, script: SCRIPTS[shell](offeredTo(COMMANDS, "human")) }),
  text: ({ script }) => script,
})

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

interface Flag {
  readonly name: string
  readonly description: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
  readonly kind: Kind | undefined
}

/** What a shell asks `meridian complete` for, or completes by itself. */
type Kind = "space" | "run" | "chat" | "model" | "session" | "schedule" | "file"

/** The word help shows for a value says what it names. */
const KINDS: Readonly<Record<string, Kind>> = {
  SPACE: "space",
  RUN: "run",
  CHAT: "chat",
  MODEL: "model",
  SESSION: "session",
  SCHEDULE: "schedule",
  FILE: "file",
  PATH: "file",
  DIR: "file",
  DIRECTORY: "file",
}

const kindOf = ({ value = "" }: Field): Kind | undefined => KINDS[value]

/** Run by the shell while somebody types. */
const asked = (kind: Exclude<Kind, "file">): string => `$(meridian complete ${kind} 2>/dev/null)`

function bashScript(metas: readonly OperationMeta[]): string {
  const cases = metas.map((meta) => {
    const flags = flagsOf(meta).map((flag) => flag.name)
    const kinds = positionalKinds(meta)
    const named = kinds.flatMap((kind) => (kind === "file" ? [] : [asked(kind)]))
    const words = [...positionalChoices(meta), ...named, ...flags]
    const files = kinds.includes("file") ? " files=1" : ""
    return `    "${meta.name.replace(".", " ")}") words="${words.join(" ")}"${files} ;;`
  })
  const groups = groupsOf(metas).map(
    ([group, members]) => `    "${group}") words="${members.join(" ")} --help" ;;`,
  )
  return `# bash completion of meridian
_meridian() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" words="" files="" word count=0
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) if [ $count -lt 2 ]; then
           case "$command" in
             ${singles(metas).join("|")}) ;;
             "") command="$word"; count=1 ;;
             *) command="$command $word"; count=2 ;;
           esac
         fi ;;
    esac
  done
  case "$previous" in
${valueCases(metas)}
    --format) words="text json" ;;
    --config|-f|--file|--cwd|--directory|--database|-o|--output) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ -z "$words" ]; then
    case "$command" in
    "") words="${topWords(metas).join(" ")} ${globalFlags()
      .map((flag) => flag.name)
      .join(" ")}" ;;
${[...groups, ...cases].join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -F _meridian meridian`
}

function zshScript(metas: readonly OperationMeta[]): string {
  const top = describeTop(metas).map(([word, text]) => `    ${zshPair(word, text)}`)
  const groups = groupsOf(metas).map(([group]) => {
    const rows = membersOf(metas, group).map((meta) => zshPair(meta.name.split(".")[1] ?? "", meta.summary))
    return `    ${group}) if (( CURRENT == 3 )); then local -a actions=(${rows.join(" ")}); _describe 'command' actions; return; fi ;;`
  })
  const cases = metas.map((meta) => {
    const flags = flagsOf(meta).map(zshArgument)
    const choices = positionalChoices(meta)
    const kind = positionalKinds(meta).find((each) => each !== "file")
    const rest =
      choices.length > 0
        ? `'*:value:(${choices.join(" ")})'`
        : kind === undefined
          ? "'*:file:_files'"
          : `'*:${kind}:{compadd -- ${asked(kind)}}'`
    return `    '${meta.name.replace(".", " ")}') _arguments -s ${[...flags, rest].join(" ")} ;;`
  })
  return `#compdef meridian
_meridian() {
  local -a commands=(
${top.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case "$words[2]" in
${groups.join("\n")}
  esac
  local command="$words[2]"
  case "$command" in
    ${groupsOf(metas)
      .map(([group]) => group)
      .join("|")}) command="$words[2] $words[3]"; shift words; (( CURRENT-- )) ;;
  esac
  shift words; (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_meridian" ]; then _meridian "$@"; else compdef _meridian meridian; fi`
}

function fishScript(metas: readonly OperationMeta[]): string {
  const heads = [...new Set(metas.map((meta) => meta.name.split(".")[0] ?? meta.name))].join(" ")
  const top = describeTop(metas).map(
    ([word, text]) =>
      `complete -c meridian -n "not __fish_seen_subcommand_from ${heads}" -f -a ${word} -d ${quote(text)}`,
  )
  const actions = groupsOf(metas).flatMap(([group, members]) =>
    membersOf(metas, group).map((meta) => {
      const action = meta.name.split(".")[1] ?? ""
      const when = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${members.join(" ")}`
      return `complete -c meridian -n "${when}" -f -a ${action} -d ${quote(meta.summary)}`
    }),
  )
  const flags = metas.flatMap((meta) => {
    const when = meta.name
      .split(".")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ")
    const choices = positionalChoices(meta).map(
      (choice) => `complete -c meridian -n "${when}" -f -a ${choice}`,
    )
    const named = positionalKinds(meta).flatMap((kind) =>
      kind === "file" ? [] : [`complete -c meridian -n "${when}" -f -a "${fishAsked(kind)}"`],
    )
    return [...choices, ...named, ...flagsOf(meta).map((flag) => fishFlag(flag, when))]
  })
  return ["# fish completion of meridian", ...top, ...actions, ...flags].join("\n")
}

const fishFlag = (flag: Flag, when: string): string => {
  const name = flag.name.startsWith("--") ? `-l ${flag.name.slice(2)}` : `-s ${flag.name.slice(1)}`
  const value = flag.takesValue ? fishValue(flag) : " -f"
  return `complete -c meridian -n "${when}" ${name}${value} -d ${quote(flag.description)}`
}

const fishValue = ({ choices, kind }: Flag): string => {
  if (choices.length > 0) return ` -x -a "${choices.join(" ")}"`
  return kind === undefined || kind === "file" ? " -r" : ` -x -a "${fishAsked(kind)}"`
}

const fishAsked = (kind: Exclude<Kind, "file">): string => `(meridian complete ${kind} 2>/dev/null)`

const flagsOf = (meta: OperationMeta): readonly Flag[] => {
  const own = Object.entries<Field>(meta.fields).filter(
    ([, field]) => field.positional === undefined && field.hidden !== true && field.only !== "tool",
  )
  return [...own.flatMap(([key, field]) => flagForms(key, field)), ...globalFlags()]
}

const globalFlags = (): readonly Flag[] =>
  Object.entries<Field>(GLOBAL_FLAGS)
    .filter(([, field]) => field.hidden !== true)
    .flatMap(([key, field]) => flagForms(key, field))

const flagForms = (key: string, field: Field): readonly Flag[] => {
  const { description } = field
  const form = {
    description,
    takesValue: field.type !== "boolean",
    choices: field.choices ?? [],
    kind: kindOf(field),
  }
  const long = { name: `--${flagName(key, field)}`, ...form }
  return field.short === undefined ? [long] : [long, { name: `-${field.short}`, ...form }]
}

const positionalChoices = (meta: OperationMeta): readonly string[] =>
  Object.values<Field>(meta.fields).flatMap((field) =>
    field.positional === undefined ? [] : (field.choices ?? []),
  )

const positionalKinds = (meta: OperationMeta): readonly Kind[] =>
  Object.values<Field>(meta.fields).flatMap((field) =>
    field.positional === undefined || field.only === "tool" ? [] : (kindOf(field) ?? []),
  )

const groupsOf = (metas: readonly OperationMeta[]): readonly (readonly [string, readonly string[]])[] => {
  const groups = new Set(
    metas.filter((meta) => meta.name.includes(".")).map((meta) => meta.name.split(".")[0] ?? ""),
  )
  return [...groups].map((group) => [
    group,
    membersOf(metas, group).map((meta) => meta.name.split(".")[1] ?? ""),
  ])
}

const membersOf = (metas: readonly OperationMeta[], group: string): readonly OperationMeta[] =>
  metas.filter((meta) => meta.name.startsWith(`${group}.`))

const singles = (metas: readonly OperationMeta[]): readonly string[] =>
  metas.filter((meta) => !meta.name.includes(".")).map((meta) => meta.name)

const topWords = (metas: readonly OperationMeta[]): readonly string[] => [
  ...singles(metas),
  ...groupsOf(metas).map(([group]) => group),
]

const describeTop = (metas: readonly OperationMeta[]): readonly (readonly [string, string])[] => [
  ...metas.filter((meta) => !meta.name.includes(".")).map((meta) => [meta.name, meta.summary] as const),
  ...groupsOf(metas).map(([group, members]) => [group, members.join(", ")] as const),
]

const valueCases = (metas: readonly OperationMeta[]): string => {
  const byFlag = new Map<string, Set<string>>()
  for (const flag of metas.flatMap(flagsOf))
    if (flag.choices.length > 0 && flag.name !== "--format")
      byFlag.set(flag.name, new Set([...(byFlag.get(flag.name) ?? []), ...flag.choices]))
  const named = new Map<string, string>()
  for (const { name, kind } of metas.flatMap(flagsOf))
    if (kind !== undefined && kind !== "file" && !byFlag.has(name)) named.set(name, asked(kind))
  return [
    ...[...byFlag].map(([flag, choices]) => `    ${flag}) words="${[...choices].join(" ")}" ;;`),
    ...[...named].map(([flag, names]) => `    ${flag}) words="${names}" ;;`),
  ].join("\n")
}

const zshPair = (word: string, text: string): string => quote(`${word}:${text.replaceAll(":", "\\:")}`)

const zshArgument = (flag: Flag): string => {
  const text = flag.description.replaceAll(/[[\]]/g, "").replaceAll(":", "\\:")
  const { choices, kind } = flag
  const named = kind === undefined || kind === "file" ? "_files" : `{compadd -- ${asked(kind)}}`
  const value = choices.length === 0 ? `:value:${named}` : `:value:(${choices.join(" ")})`
  return quote(`${flag.name}[${text}]${flag.takesValue ? value : ""}`)
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
