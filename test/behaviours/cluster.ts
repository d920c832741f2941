/** What several machines on one database promise. */
import type { Behaviour } from "../behaviours.ts"

const promise = (says: string): Behaviour => ({ seed: "issue 13", says })

export const CLUSTER_BEHAVIOURS = {
  "cluster.drain": promise(
    "a node that leaves ends its turns and hands its sessions over; another goes on with the same work, and nothing is interrupted",
  ),
  "cluster.drain-late": promise("what is not over when the time is, is interrupted as by a close without it"),
  "cluster.drain-admits": promise("what a node admits while it leaves, another one runs"),
  "cluster.drain-file": promise("on a file the work goes on with the next process that opens it"),
  "cluster.health": promise(
    "a server that leaves is alive and not ready, and its readers get the place at which to go on elsewhere",
  ),
  "cluster.sigterm": promise("SIGTERM drains a server, and a second one ends it now"),
  "cluster.workspace": promise(
    "a session waits, with the reason in words, until a node offers its workspace, and then runs there",
  ),
  "cluster.workspace-lies": promise(
    "a workspace may lie elsewhere on every node; a session finds its place in it and cannot leave it",
  ),
  "cluster.places": promise(
    "a node takes no more sessions than it has places for; the others wait and say so",
  ),
  "cluster.asked-once": promise("what a node that runs nothing asks for, exactly one of the others does"),
  "cluster.live": promise(
    "fragments of a session that another node works on reach the readers here, through one stream to its owner",
  ),
  "cluster.token": promise("a node with another cluster token than the others is refused, with what to do"),
  "cluster.deploy": promise(
    "the compose file, the systemd unit and the Kubernetes manifest are well formed, give a node longer than it drains, and say only what the command knows",
  ),
  "cluster.archive": promise(
    "a session moves into a SQLite file and back, whole; the flag that only puts it away stays",
  ),
  "cluster.read": promise(
    "sessions of a server are exported, searched and recalled like those of this machine, and nothing is written there",
  ),
  "cluster.page": promise("the page shows which node has a session, and each time it came to another"),
  "cluster.shown": promise("HTTP and the command show the same nodes, sessions and reasons to wait"),
  "cluster.killed": promise(
    "a node that is killed in a tool is taken over: the call is reported, never repeated, and what waited is run",
  ),
  "cluster.restart": promise(
    "while the server is away for less than a lease nobody takes over, and work goes on",
  ),
  "cluster.away": promise(
    "while the server is away for longer, verbs say so and a node is not ready; the same prompt with the same id is stored once",
  ),
  "cluster.lost-answer": promise("a write whose answer got lost is stored once"),
  "cluster.failover": promise(
    "a failover to a synchronous standby loses nothing; one to a standby that was behind is noticed",
  ),
  "cluster.bad-server": promise(
    "a server that cannot be used is told with a code and the way on, and nothing is half written",
  ),
  "cluster.clocks": promise("nodes whose clocks are years apart hand work over all the same"),
  "cluster.park-clock": promise(
    "a session that waits for a limit goes on when the server's clock says so, however wrong the clock of a node is",
  ),
  "cluster.rolling": promise(
    "while three servers behind a balancer are restarted one after the other, no turn is interrupted and a reader sees every event once",
  ),
  "cluster.overdue": promise(
    "what is written in the name of a node and does not run there is given back, and runs",
  ),
  "cluster.stale-intent": promise("a call whose record was sent long ago is confirmed before it acts"),
  "cluster.silent": promise("a node that gets no answers ends its tools before another one reports them"),
  "cluster.trace": promise(
    "the trace of the request that admitted a prompt goes on in the spans of its work, whichever node does it",
  ),
  "cluster.telemetry": promise(
    "a node tells collectors and /metrics its appends, claims, recoveries and lost leases, the age of its last sign of life and what waits",
  ),
  "cluster.format": promise("a node leaves sessions alone that a newer version has written to"),
} as const satisfies Record<string, Behaviour>
