/**
 * Whether what an agent starts is kept in a sandbox, and the command line that keeps it there. Pure: `store/sandbox-site.ts`
 * looks which places there are, `operation/open-sandbox.ts` asks whether the machine can do it.
 *
 * Everything is read-only but what is named writable; `/tmp`, `/run` and what belongs to a desktop are empty; secrets are hidden.
 * Processes are not hidden: what runs in there writes down process ids that the rest of Meridian must understand.
 */
export const SANDBOX_MODES = ["off", "auto", "required"] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

export const SANDBOX_NETWORKS = ["on", "off"] as const
export type SandboxNetwork = (typeof SANDBOX_NETWORKS)[number]

export interface SandboxWish {
  /** `auto`: where the machine has one. */
  readonly mode: SandboxMode
  readonly network: SandboxNetwork
}

/** What is kept in the plan of a run: that it is in one, and which. */
export interface SandboxUse {
  readonly network: SandboxNetwork
  /** Folders of the user's that stay writable. */
  readonly writable: readonly string[]
}

/** As it is recorded and shown. */
export interface SandboxRecord {
  readonly by: (typeof SANDBOX_KINDS)[number]
  readonly network?: SandboxNetwork
  /** Of `none`: why there is none. */
  readonly why?: string
}
export const SANDBOX_KINDS = ["bubblewrap", "none"] as const

/** Set for everything that runs in one; the value is its network. */
export const SANDBOX_VARIABLE = "MERIDIAN_IN_SANDBOX"

export const stricterMode = (one: SandboxMode, other: SandboxMode): SandboxMode =>
  SANDBOX_MODES.indexOf(one) >= SANDBOX_MODES.indexOf(other) ? one : other

export const stricterNetwork = (one: SandboxNetwork, other: SandboxNetwork): SandboxNetwork =>
  one === "off" ? one : other

/** Whether the second is looser than the first: what a folder may not make of what its user says. */
export const isLooser = (
  own: SandboxWish,
  told: { readonly key: string; readonly value: string },
): boolean => {
  if (told.key === "sandbox.network") return own.network === "off" && told.value === "on"
  const mode = SANDBOX_MODES.find((known) => known === told.value)
  return mode !== undefined && stricterMode(own.mode, mode) !== mode
}

export interface SandboxSite {
  /** Seen as they are, although they lie where everything is hidden. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Read-only although they lie in something writable. */
  readonly kept: readonly string[]
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[]
  /** A file without content, for those that are hidden. */
  readonly empty: string
}

export interface SandboxCall {
  readonly program: string
  readonly network: SandboxNetwork
  readonly site: SandboxSite
  readonly directory: string
  /** Its processes are among themselves, and end with it: for what leaves no process ids behind. */
  readonly isAlone: boolean
}

/** Emptied: sockets lie there by which other programs of the user can be told what to do. */
export const EMPTIED = ["/tmp", "/var/tmp", "/run"] as const

/** The way to an agent, a desktop or a server that would do outside what cannot be done inside. */
const UNSET = [
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GPG_AGENT_INFO",
  "DBUS_SESSION_BUS_ADDRESS",
  "DBUS_SYSTEM_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "DOCKER_HOST",
  "CONTAINER_HOST",
  "TMUX",
  "TMUX_PANE",
  "STY",
  "VSCODE_IPC_HOOK_CLI",
  "VSCODE_GIT_IPC_HANDLE",
  "TMPDIR",
]

/** Later mounts lie over earlier ones, so what is hidden comes last. */
export const sandboxCommand = (call: SandboxCall, argv: readonly string[]): readonly string[] => {
  const { program, network, site, directory, isAlone } = call
  const two = (flag: string, paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => [flag, path, path])
  return [
    program,
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(network === "off" ? ["--unshare-net"] : []),
    ...(isAlone ? ["--unshare-pid"] : []),
    "--die-with-parent",
    // As root it would otherwise keep what it needs to take the mounts down again.
    "--cap-drop",
    "ALL",
    ...two("--ro-bind", ["/"]),
    "--dev",
    "/dev",
    ...(isAlone ? ["--proc", "/proc"] : []),
    ...EMPTIED.flatMap((path) => ["--tmpfs", path]),
    ...two("--ro-bind", site.readable),
    ...two("--bind", site.writable),
    ...two("--ro-bind", site.kept),
    ...site.hidden.flatMap(({ path, isFolder }) =>
      isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", site.empty, path],
    ),
    ...UNSET.flatMap((name) => ["--unsetenv", name]),
    "--setenv",
    SANDBOX_VARIABLE,
    network,
    "--chdir",
    directory,
    "--",
    ...argv,
  ]
}

export const sandboxWords = ({ by, network, why }: SandboxRecord): string =>
  by === "none" ? `none (${why ?? "nobody asked for one"})` : `${by}, network ${network ?? "on"}`
