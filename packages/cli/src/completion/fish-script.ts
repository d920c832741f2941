import type { Command, Flag, Grammar, Value } from "./grammar.ts"

/** Fish knows which flags take a value, but not which command a line is about: a function reads that. */
export const fishScript = ({ commands, groups, heads, globalFlags }: Grammar): string => {
  const top = heads.map(({ word, summary }) => `${line("")} -f -a ${word} -d ${quote(summary)}`)
  const actions = groups.flatMap(({ name, members }) =>
    members.map(({ word, summary }) => `${line(name)} -f -a ${word} -d ${quote(summary)}`),
  )
  return [
    "# fish completion of meridian",
    commandFunction({ commands, globalFlags }),
    ...top,
    ...globalFlags.map((flag) => flagLine(flag, "")),
    ...actions,
    ...commands.flatMap(commandLines),
  ].join("\n")
}

const commandFunction = ({ commands, globalFlags }: Pick<Grammar, "commands" | "globalFlags">): string => {
  const pairs = commands.map(({ name }) => name).filter((name) => name.includes(" "))
  const withValue = globalFlags.filter(({ value }) => value !== undefined).map(({ name }) => name)
  return `function __meridian_at
  set -l words (commandline -opc)
  set -l command ''
  set -l skip ''
  for word in $words[2..-1]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch $word
      case ${withValue.join(" ")}
        set skip 1
      case '-*'
      case '*'
        if test -z "$command"
          set command $word
        else if contains -- "$command $word" ${pairs.map(quote).join(" ")}
          set command "$command $word"
        else
          break
        end
    end
  end
  test "$command" = "$argv"
end`
}

const commandLines = ({ name, flags, values }: Command): readonly string[] => {
  // Fish offers files on its own.
  const isFiles = values.some(({ kind }) => kind === "file")
  return [
    ...(isFiles ? [] : [`${line(name)} -f`]),
    ...values.flatMap((value) => (offered(value) === "" ? [] : [`${line(name)} -f -a "${offered(value)}"`])),
    ...flags.map((flag) => flagLine(flag, name)),
  ]
}

const flagLine = ({ name, description, value }: Flag, command: string): string => {
  const flag = name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`
  return `${line(command)} ${flag}${valueOf(value)} -d ${quote(description)}`
}

const valueOf = (value: Value | undefined): string => {
  if (value === undefined) return " -f"
  if (value.kind === "file") return " -r -F"
  return offered(value) === "" ? " -x" : ` -x -a "${offered(value)}"`
}

const offered = ({ choices, kind }: Value): string =>
  choices.length > 0 || kind === undefined || kind === "file"
    ? choices.join(" ")
    : `(meridian complete ${kind} 2>/dev/null)`

const line = (command: string): string => `complete -c meridian -n "${`__meridian_at ${command}`.trimEnd()}"`

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
