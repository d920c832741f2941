/**
 * Whether an agent's processes are kept in a sandbox, and the command line that keeps them there. Pure:
 * `store/sandbox-site.ts` finds which places exist, `operation/open-sandbox.ts` asks whether the machine can do it.
 *
 * Everything is read-only except what is named writable. `/tmp`, `/run` and the places of a desktop are empty, and
 * secrets are hidden. Processes are not hidden: programs in there record process ids that the rest of Meridian must
 * understand.
 */
export const SANDBOX_MODES = ["off", "auto", "required"] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

export const SANDBOX_NETWORKS = ["on", "off"] as const
export type SandboxNetwork = (typeof SANDBOX_NETWORKS)[number]

export interface SandboxWish {
  /** `auto`: if the machine has one. */
  readonly mode: SandboxMode
  readonly network: SandboxNetwork
}

/** What the plan of a run keeps: that it runs in a sandbox, and in which. */
export interface SandboxUse {
  readonly network: SandboxNetwork
  /** The user's folders that stay writable. */
  readonly writable: readonly string[]
}

/** As recorded and shown. */
export interface SandboxRecord {
  readonly by: (typeof SANDBOX_KINDS)[number]
  readonly network?: SandboxNetwork
  /** For `none`: the reason. */
  readonly why?: string
}
export const SANDBOX_KINDS = ["bubblewrap", "none"] as const

/** Set for everything that runs in a sandbox; its value is the network. */
export const SANDBOX_VARIABLE = "MERIDIAN_IN_SANDBOX"

export const stricterMode = (one: SandboxMode, other: SandboxMode): SandboxMode =>
  SANDBOX_MODES.indexOf(one) >= SANDBOX_MODES.indexOf(other) ? one : other

export const stricterNetwork = (one: SandboxNetwork, other: SandboxNetwork): SandboxNetwork =>
  one === "off" ? one : other

/** Whether a told value is looser than the user's own, which a folder may not demand. */
export const isLooser = (
  own: SandboxWish,
  told: { readonly key: string; readonly value: string },
): boolean => {
  if (told.key === "sandbox.network") return own.network === "off" && told.value === "on"
  const mode = SANDBOX_MODES.find((known) => known === told.value)
  return mode !== undefined && stricterMode(own.mode, mode) !== mode
}

export interface SandboxSite {
  /** Visible, although they lie where everything else is hidden. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Read-only, although they lie in a writable folder. */
  readonly kept: readonly string[]
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[]
  /** An empty file, mounted over hidden files. */
  readonly empty: string
}

export interface SandboxCall {
  readonly program: string
  readonly network: SandboxNetwork
  readonly site: SandboxSite
  readonly directory: string
  /** Isolates its processes and ends them with it. For programs that leave no process ids behind. */
  readonly isAlone: boolean
}

/** Emptied, because sockets there can tell the user's other programs what to do. */
export const EMPTIED = ["/tmp", "/var/tmp", "/run"] as const

/** Ways to an agent, a desktop or a server that would do outside what is forbidden inside. */
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

/** Later mounts cover earlier ones, so the hidden paths come last. */
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
    // As root it would otherwise keep the capabilities it needs to unmount things again.
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
  by === "none" ? `none (${why ?? "none was requested"})` : `${by}, network ${network ?? "on"}`
