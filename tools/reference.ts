/**
 * Writes `docs/reference/`: the command from its operations, the errors from the catalogue, the files from the layout. A
 * test compares; `node --conditions=meridian-source tools/reference.ts` writes.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

import { COMMANDS, explain, flagLabel, GLOBAL_FLAGS, placeholder, usage } from "@meridian/cli"
import { FAILURES, jsonSchema, type Facts, type FailureEntry } from "@meridian/protocol"
import {
  inputSchema,
  OPTION_KEYS,
  optionOf,
  WARNINGS,
  type Field,
  type OperationMeta,
  type WarningEntry,
} from "@meridian/spaces"

const MADE = "<!-- Made by tools/reference.ts. Do not edit. -->"

/** Path -> content of every page. */
export const referencePages = (): ReadonlyMap<string, string> =>
  new Map([
    ["docs/reference/cli.md", cliPage()],
    ["docs/reference/errors.md", errorsPage()],
    ["docs/reference/files.md", filesPage()],
  ])

const cliPage = (): string => {
  const metas = COMMANDS.map((command) => command.meta).filter((meta) => meta.hidden !== true)
  return page([
    "# The `meridian` command",
    MADE,
    "One binary, two audiences. Without `MERIDIAN_SPACE_ID` it speaks to people: every command, text output. With it, it speaks to agents: help shows only the commands made for them, and output is JSON (`run spawn` and `run continue` print the report in both modes). `--human` gives the full help and text output inside a space.",
    "## Commands",
    table(
      ["command", "for", "what it does"],
      metas.map((meta) => [
        `[\`${title(meta)}\`](#${anchor(meta)})`,
        meta.audience === "agent" ? "agents, people" : "people",
        meta.summary,
      ]),
    ),
    "## Flags of every command",
    flagTable(GLOBAL_FLAGS),
    "## Output and exit codes",
    'Results go to stdout, exactly one document; warnings and errors go to stderr. With `--json` an error is one object on stdout as well: `{"error":{"code","message","next"},"exit_code":N}`.',
    table(
      ["code", "meaning"],
      [
        ["0", "done"],
        ["1", "the run failed, or what was asked for is not there"],
        ["2", "usage error, or the harness could not be started"],
        ["3", "a run reached its `--timeout`"],
        ["124", "`run wait` reached its `--timeout`"],
        ["130", "interrupted (SIGINT)"],
        ["143", "ended (SIGTERM)"],
      ],
    ),
    ...metas.flatMap(commandSection),
    "## Tools of `meridian serve`",
    "Over MCP exactly these are offered. The input of each has the JSON schema below, its structured output that of its command, with a `warning` only when there is one.",
    ...metas.filter((meta) => meta.tool !== undefined).flatMap(toolSection),
  ])
}

const commandSection = (meta: OperationMeta): readonly string[] => {
  const fields = visibleFields(meta)
  return [
    `### ${title(meta)}`,
    meta.summary,
    code("", usage(meta)),
    ...(Object.keys(fields).length === 0 ? [] : [flagTable(fields)]),
    ...(meta.details === undefined ? [] : [meta.details]),
    ...(meta.examples === undefined
      ? []
      : [code("sh", meta.examples.map((example) => `meridian ${example}`).join("\n"))]),
    "JSON output:",
    code("json", JSON.stringify(jsonSchema(meta.output), null, 2)),
  ]
}

const toolSection = (meta: OperationMeta): readonly string[] => [
  `### \`${meta.tool}\``,
  meta.toolDetails === undefined ? meta.summary : `${meta.summary} ${meta.toolDetails}`,
  code("json", JSON.stringify(inputSchema(meta.fields), null, 2)),
]

const visibleFields = (meta: OperationMeta): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    Object.entries<Field>(meta.fields).filter(([, field]) => field.hidden !== true && field.only !== "tool"),
  )

const flagTable = (fields: Readonly<Record<string, Field>>): string =>
  table(
    ["flag", "meaning"],
    Object.entries(fields).map(([key, field]) => [
      `\`${field.positional === undefined ? flagLabel(key, field) : placeholder(key, field)}\``,
      explain(field),
    ]),
  )

const errorsPage = (): string => {
  const failures = Object.entries<FailureEntry>(FAILURES).toSorted(byName)
  const warnings = Object.entries<WarningEntry>(WARNINGS).toSorted(byName)
  return page([
    "# Errors and warnings",
    MADE,
    "Every failure reads `ERROR [CODE]: cause. Next: action.` on stderr and ends the command with its exit code. Every warning reads `WARNING [CODE]: cause. Next: action.`, and the command goes on. Words in angle brackets are filled in.",
    "## Errors",
    table(
      ["code", "exit", "HTTP", "cause", "next"],
      failures.map(([name, entry]) => [
        `\`${name}\``,
        String(entry.exit),
        String(entry.http),
        entry.cause(SAMPLE),
        entry.next(SAMPLE),
      ]),
    ),
    "## Warnings",
    table(
      ["code", "cause", "next"],
      warnings.map(([name, entry]) => [`\`${name}\``, entry.cause(SAMPLE), entry.next(SAMPLE)]),
    ),
  ])
}

/** Every fact shows its own name: `f["space"]` becomes `<space>`. */
const SAMPLE: Facts = new Proxy<Record<string, string>>({}, { get: (_target, name) => `<${String(name)}>` })

const filesPage = (): string =>
  page([
    "# Files",
    MADE,
    "All state is plain files under `.meridian/` of the project, or under `MERIDIAN_STATE_ROOT`. Only `fs/` of each space is meant for version control; `.meridian/.gitignore` says so.",
    code("", LAYOUT),
    'Ids are the largest so far plus one. Logs are one JSON event a line, each with `"v":1`, appended and synced to disk under their lock. A torn last line is healed before the next append; damage in the middle is warned about with file and line and skipped. A lock that is held (`flock -n <lock> true` fails) means that its chat or run is alive.',
    "## `config.toml`",
    "Later layers win: defaults, `.meridian/config.toml`, the file of `--config` or `MERIDIAN_CONFIG`, variables.",
    table(
      ["key", "default", "variable", "meaning"],
      OPTION_KEYS.map((key) => {
        const option = optionOf(key)
        return [
          `\`${key}\``,
          option.default === undefined ? "unset" : `\`${JSON.stringify(option.default)}\``,
          option.variable === undefined ? "" : `\`${option.variable}\``,
          option.description,
        ]
      }),
    ),
    "## `models.toml`",
    "Models beside the built-in ones; a row of the same id replaces the built-in row.",
    code("toml", MODELS_EXAMPLE),
    "## Variables you may set",
    "Besides those of the options above:",
    table(
      ["variable", "meaning"],
      READ_VARIABLES.map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
    "## Variables of a launched harness",
    table(
      ["variable", "meaning"],
      VARIABLES.map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
  ])

const LAYOUT = `.meridian/
  config.toml                 written by 'meridian init', yours
  models.toml                 models beside the built-in ones, yours
  agents/<name>.md            agent profiles (also .agents/agents, .claude/agents, .opencode/agents)
  skills/<name>/SKILL.md      skills (also .agents/skills, .claude/skills, .opencode/skills)
  .gitignore                  keeps everything below out of version control, but fs/
  engine.sqlite               sessions of the engine, readable by its owner only
  .spaces/.lock               held while a space is made
  .spaces/schedules.json      what runs by the clock; guarded by schedules.lock
  .spaces/<sN>/
    space.json                {"schema_version":1,"id","name","status","started_at","finished_at"}
    space.lock                guards space.json
    sessions.jsonl            start, update and stop events of chats
    sessions.lock             guards sessions.jsonl
    sessions/<cN>.lock        held while the chat is alive
    runs.jsonl                start, update and finalize events of runs; made by the first spawn
    runs.lock                 guards runs.jsonl
    runs/<rN>/                prompt.md, params.json, output.jsonl, stderr.log, events.jsonl, report.md, run.lock;
                              task.md when the task is too long for its record
    fs/                       the agents' own files`

const MODELS_EXAMPLE = `[[models]]
id = "glm-5"
harness = "opencode"
harness_model = "zai/glm-5"
aliases = ["glm"]
role = "Second opinion"`

const READ_VARIABLES: readonly (readonly [string, string])[] = [
  ["MERIDIAN_SPACE_ID", "the space to work in; the command speaks to agents then"],
  ["MERIDIAN_STATE_ROOT", "another place for the state: absolute, or relative to the project"],
  [
    "MERIDIAN_REPO_ROOT",
    "the project; else the nearest folder upwards with `.meridian`, `.git` or `.agents/skills`, else here; of the home folder above only `.git` counts, of a temporary folder nothing",
  ],
  ["MERIDIAN_CONFIG", "a configuration file laid over `config.toml`; `--config` goes before it"],
  ["MERIDIAN_DEBUG", "`1` shows where in the code an error came from"],
]

const VARIABLES: readonly (readonly [string, string])[] = [
  ["MERIDIAN_SPACE_ID", "the space; its presence makes the command speak to agents"],
  ["MERIDIAN_SPACE_FS", "the agents' own folder of the space"],
  [
    "MERIDIAN_CHAT_ID",
    "the chat (`c2`); `MERIDIAN_SESSION_ID` says the same and is read when the other is not set",
  ],
  ["MERIDIAN_HARNESS_COMMAND", "the command the harness was started with"],
  [
    "MERIDIAN_COMMAND",
    "the `meridian` of this launch: a script of the same version and Node, whose folder is first on the PATH",
  ],
  ["MERIDIAN_STATE_ROOT", "where the state is"],
  ["MERIDIAN_REPO_ROOT", "the project"],
  ["MERIDIAN_PARENT_RUN_ID", "of a run: its own id, the parent of what it spawns"],
  ["MERIDIAN_DEPTH", "how many agents deep this one is"],
  ["MERIDIAN_REPORT_PATH", "of a run: where the agent may write its own report"],
]

const title = (meta: OperationMeta): string => meta.name.replaceAll(".", " ")
const anchor = (meta: OperationMeta): string => meta.name.replaceAll(".", "-")

const page = (blocks: readonly string[]): string => `${blocks.join("\n\n")}\n`

const code = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n")

/** Text for one table cell: a single line that cannot end the cell. */
const cell = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll(/<(\w+)>/g, "&lt;$1&gt;")

const byName = (left: readonly [string, unknown], right: readonly [string, unknown]): number =>
  left[0] < right[0] ? -1 : 1

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  mkdirSync("docs/reference", { recursive: true })
  for (const [path, text] of referencePages()) writeFileSync(path, text)
}
