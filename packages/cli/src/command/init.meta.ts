import { BOOLEAN, STRING, listOf, objectOf, oneOf } from "@meridian/protocol"
import { CLAIM, defineMeta, FILE_TIERS, HOST_CHECK, TIER_FIELD } from "@meridian/spaces"

export const INIT = defineMeta({
  name: "init",
  audience: "human",
  summary: "Write .meridian/config.toml with every option explained, or connect a harness.",
  details:
    "Without a flag: the configuration file, every option commented out; an existing file is never overwritten. With --claude, --codex or --opencode: the hook or plugin that gives the harness the brief after a compaction; running it again changes nothing, --remove takes it out, --check only looks, --user uses your own settings and so covers every project. Meridian's own launches of Claude Code and OpenCode add hook or plugin without any of this. A project's folder is trusted from now on, as by 'meridian trust': what its files already decide is shown.",
  fields: {
    claude: { type: "boolean", description: "Connect Claude Code (a hook in .claude/settings.json)." },
    codex: { type: "boolean", description: "Connect Codex (a hook in .codex/hooks.json)." },
    opencode: { type: "boolean", description: "Connect OpenCode (.opencode/plugins/meridian.ts)." },
    check: {
      type: "boolean",
      description: "Check whether they are connected, current and really injecting; change nothing.",
    },
    remove: { type: "boolean", description: "Disconnect the named harnesses instead." },
    user: {
      type: "boolean",
      description: "Connect the named harnesses for you in every project, in your own settings.",
    },
    service: {
      type: "boolean",
      description:
        "Write a systemd user unit (a launchd agent on a Mac) that resumes this project's runs after a reboot; the command prints how to start it.",
    },
    tier: TIER_FIELD,
  },
  output: objectOf(
    {},
    {
      path: STRING,
      created: BOOLEAN,
      checks: listOf(HOST_CHECK),
      trusted: objectOf({ path: STRING, tier: oneOf(...FILE_TIERS), decides: listOf(CLAIM) }),
      service: objectOf({
        path: STRING,
        action: oneOf("installed", "updated", "unchanged", "removed", "absent"),
        commands: listOf(STRING),
      }),
      hosts: listOf(
        objectOf({
          host: oneOf("claude", "codex", "opencode"),
          path: STRING,
          action: oneOf("installed", "updated", "unchanged", "removed", "absent"),
          notes: listOf(STRING),
        }),
      ),
    },
  ),
  examples: [
    "init",
    "init --claude --opencode",
    "init --opencode --check",
    "init --claude --user",
    "init --claude --remove",
    "init --service",
  ],
})
