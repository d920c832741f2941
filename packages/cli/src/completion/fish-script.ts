import type { Command, Flag, Grammar, Value } from "./grammar.ts"

export const fishScript = ({ commands, groups, heads }: Grammar): string => {
  const words = heads.map(({ word }) => word).join(" ")
  const top = heads.map(
    ({ word, summary }) =>
      `${line(`not __fish_seen_subcommand_from ${words}`)} -f -a ${word} -d ${quote(summary)}`,
  )
  const actions = groups.flatMap(({ name, members }) => {
    const own = members.map(({ word }) => word).join(" ")
    const when = `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${own}`
    return members.map(({ word, summary }) => `${line(when)} -f -a ${word} -d ${quote(summary)}`)
  })
  return ["# fish completion of meridian", ...top, ...actions, ...commands.flatMap(commandLines)].join("\n")
}

const commandLines = ({ name, flags, values }: Command): readonly string[] => {
  const when = name
    .split(" ")
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join("; and ")
  // Files are what fish offers by itself.
  const isFiles = values.some(({ kind }) => kind === "file")
  return [
    ...(isFiles ? [] : [`${line(when)} -f`]),
    ...values.flatMap((value) => (offered(value) === "" ? [] : [`${line(when)} -f -a "${offered(value)}"`])),
    ...flags.map((flag) => flagLine(flag, when)),
  ]
}

const flagLine = ({ name, description, value }: Flag, when: string): string => {
  const flag = name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`
  return `${line(when)} ${flag}${valueOf(value)} -d ${quote(description)}`
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

const line = (when: string): string => `complete -c meridian -n "${when}"`

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
