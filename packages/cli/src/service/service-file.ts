/**
 * The file that makes the system keep a supervisor of one project running: a systemd user unit, or a launchd agent on
 * a Mac. Pure. Every value in it is quoted as its reader requires.
 */
import { basename, join } from "node:path"

import { oneLine } from "@meridian/protocol"
import { shellLine } from "@meridian/spaces"

export interface ServiceFacts {
  readonly platform: "linux" | "darwin"
  readonly home: string
  /** Where user units are if the user has moved their configuration. */
  readonly configHome: string | undefined
  /** This program: command and first words. */
  readonly program: readonly string[]
  readonly project: string
  readonly stateRoot: string
  readonly path: string
  /** Distinguishes the projects of one user. */
  readonly digest: string
}

export interface ServiceFile {
  readonly path: string
  readonly content: string
  /** The commands a person types to start it, and to stop it before the file is removed. */
  readonly start: readonly string[]
  readonly stop: readonly string[]
  /** Where to put keys that the agents of background runs need. */
  readonly keys: string
}

/** This line marks a file as ours. */
export const MARK = "Written by Meridian to look after the runs of a project"

export const serviceFile = (facts: ServiceFacts): ServiceFile =>
  facts.platform === "darwin" ? launchAgent(facts) : systemdUnit(facts)

const nameOf = ({ project, digest }: ServiceFacts): string => {
  const slug = basename(project)
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40)
  return `meridian-${slug === "" ? "project" : slug}-${digest.slice(0, 8)}`
}

const wordsOf = ({ program }: ServiceFacts): readonly string[] => [...program, "run", "supervise", "--stay"]

const systemdUnit = (facts: ServiceFacts): ServiceFile => {
  const { home, configHome, project, stateRoot, path } = facts
  const name = `${nameOf(facts)}.service`
  const config = configHome ?? join(home, ".config")
  const keys = join(config, "meridian/service.env")
  const environment = { PATH: path, MERIDIAN_STATE_ROOT: stateRoot, MERIDIAN_REPO_ROOT: project }
  return {
    path: join(config, "systemd/user", name),
    content: `# ${MARK}. 'meridian init --service' renews it, with --remove it goes.
[Unit]
Description=${specifiers(oneLine(`Meridian carries on with the runs of ${project}`))}
StartLimitIntervalSec=600
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${wordsOf(facts).map(commandWord).join(" ")}
WorkingDirectory=${specifiers(project)}
${Object.entries(environment)
  .map(([key, value]) => `Environment=${systemdWord(`${key}=${value}`)}`)
  .join("\n")}
EnvironmentFile=-${specifiers(keys)}
Restart=on-failure
RestartSec=10
# The workers of runs are their own masters: they outlive a supervisor that is started anew.
KillMode=process

[Install]
WantedBy=default.target
`,
    start: [
      "systemctl --user daemon-reload",
      `systemctl --user enable --now ${name}`,
      'loginctl enable-linger "$USER"   # also while you are not logged in',
    ],
    stop: [`systemctl --user disable --now ${name}`],
    keys,
  }
}

/** systemd.syntax(7), "Quoting". */
const systemdWord = (word: string): string =>
  `"${specifiers(word).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

/** systemd.service(5), "Command lines": in a command a dollar begins a variable, elsewhere it is literal. */
const commandWord = (word: string): string => systemdWord(word).replaceAll("$", "$$$$")

/** systemd.unit(5), "Specifiers". */
const specifiers = (text: string): string => text.replaceAll("%", "%%")

const launchAgent = (facts: ServiceFacts): ServiceFile => {
  const { home, project, stateRoot, path } = facts
  const label = `dev.meridian.${nameOf(facts)}`
  const file = join(home, "Library/LaunchAgents", `${label}.plist`)
  const text = (value: string): string => `<string>${xml(value)}</string>`
  const environment = { PATH: path, MERIDIAN_STATE_ROOT: stateRoot, MERIDIAN_REPO_ROOT: project }
  return {
    path: file,
    content: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK}. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${text(label)}
  <key>ProgramArguments</key>
  <array>
${wordsOf(facts)
  .map((word) => `    ${text(word)}`)
  .join("\n")}
  </array>
  <key>WorkingDirectory</key>
  ${text(project)}
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(environment)
  .map(([key, value]) => `    <key>${key}</key>\n    ${text(value)}`)
  .join("\n")}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>10</integer>
</dict>
</plist>
`,
    start: [`launchctl bootstrap "gui/$(id -u)" ${shellLine([file])}`],
    stop: [`launchctl bootout "gui/$(id -u)/${label}"`],
    keys: `the EnvironmentVariables of ${file}`,
  }
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
