import { STRING, objectOf } from "@meridian/protocol"
import { defineMeta, FILE_TIERS } from "@meridian/spaces"

export const SERVE = defineMeta({
  name: "serve",
  audience: "human",
  summary: "Offer the agent commands as MCP tools over stdio, or the engine and its page over HTTP.",
  details:
    "Without --http it reads requests until stdin ends, and writes only the protocol to stdout. Every command for agents is a tool: `run spawn` is run_spawn. With --http it listens on 127.0.0.1 until it is stopped and prints the address of the page, which holds the token. The token is in a file in $XDG_STATE_HOME/meridian/http-token (by default in ~/.local/state), which only its owner can read; MERIDIAN_HTTP_TOKEN sets one that several nodes share.",
  fields: {
    http: { type: "boolean", description: "Serve HTTP and the page instead of MCP." },
    port: {
      type: "integer",
      description: "Port of --http; 0 takes any free one.",
      minimum: 0,
      default: 4747,
      value: "N",
    },
    host: {
      type: "string",
      description:
        "Address of --http. Any address but loopback admits other machines, over plain HTTP; 0.0.0.0 means every address.",
      default: "127.0.0.1",
      value: "ADDRESS",
    },
    printConfig: {
      type: "string",
      description: "Only print the MCP configuration that starts this server, ready to paste.",
      choices: ["claude", "codex", "opencode", "json"],
      value: "HOST",
    },
    permission: {
      type: "string",
      description:
        "The most that a run started by a tool may touch; with --http, what sessions may do unasked. Default: your permissions.default_tier, and asking.",
      choices: FILE_TIERS,
      value: "TIER",
    },
    database: {
      type: "string",
      description:
        "Database of the engine instead of the one in the state folder: a file, or a server as postgres://user@host/database (also MERIDIAN_DATABASE).",
      value: "DATABASE",
    },
    sessions: {
      type: "integer",
      description: "With --http on a server: how many sessions this node works on at once (default 200).",
      minimum: 1,
      value: "COUNT",
    },
    noWork: {
      type: "boolean",
      description: "With --http on a server: admit, read and stream, and leave all work to other nodes.",
    },
    workspace: {
      type: "strings",
      description:
        "With --http on a server: a workspace this node has, as NAME=DIR; repeatable. Default: `shared`, with paths as sessions name them.",
      value: "NAME=DIR",
    },
    advertise: {
      type: "string",
      description:
        "With --http on a server: where the other nodes reach this one, as http://10.0.0.5:4747. They show what its sessions write.",
      value: "URL",
    },
    allowHost: {
      type: "strings",
      description:
        "With --http: another name clients use for this server, such as that of a balancer or a service; repeatable.",
      value: "NAME",
    },
    drain: {
      type: "integer",
      description:
        "With --http: how many seconds SIGTERM lets sessions end their turns before it hands them over (60 on a server, 0 on a file). A second signal stops at once.",
      minimum: 0,
      value: "SECONDS",
    },
    migrate: {
      type: "boolean",
      description: "With --http on a server: update an older schema first.",
    },
  },
  format: "text",
  output: objectOf({}, { host: STRING, file: STRING, config: STRING }),
  examples: [
    "serve",
    "serve --print-config claude > .mcp.json",
    "serve --print-config codex >> ~/.codex/config.toml",
    "serve --http",
    "serve --http --port 8080",
    "serve --http --host 0.0.0.0",
    "serve --http --database postgres://meridian@db/meridian",
  ],
})
