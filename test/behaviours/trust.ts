import type { Behaviour } from "../behaviours.ts"

/** Who may do what: folders, rights, files, other users. */
export const TRUST_BEHAVIOURS = {
  "trust.store": {
    seed: "issue 18",
    says: "trust lies with the user in one file nobody else can read, and MERIDIAN_TRUST moves it",
  },
  "permissions.command": {
    seed: "issue 18",
    says: "meridian permissions list shows what was allowed for good, and permissions revoke takes it back",
  },
  "trust.commands": {
    seed: "issue 18",
    says: "meridian trust, trust list and untrust say and change which folders count; init trusts its folder",
  },
  "trust.question": {
    seed: "issue 18",
    says: "on a terminal the first start in a folder that decides something shows what it is and asks once",
  },
  "trust.untrusted-line": {
    seed: "issue 18",
    says: "without a terminal an untrusted folder is told in one line on stderr; one that decides nothing is not",
  },
  "trust.values": {
    seed: "issue 18",
    says: "trust covers the values that were shown; a changed one asks again, or is ignored and told",
  },
  "trust.user-layer": {
    seed: "issue 18",
    says: "the user's own configuration lies below the project's, and config show says where each value comes from and what was ignored",
  },
  "trust.tier": {
    seed: "issue 18",
    says: "files of a folder raise no rights above the tier the user gave by flag, configuration or trust",
  },
  "trust.foreign-state": {
    seed: "issue 18",
    says: "state of another user is refused with STATE_FOREIGN, for root unless a flag says otherwise",
  },
  "durable.failed-flush": {
    seed: "issue 18",
    says: "after a failed flush nothing is acknowledged until a checkpoint has truncated the log on a healthy disk",
  },
  "durable.power-cut": {
    seed: "issue 18",
    says: "whatever a power cut takes, the database is whole and holds what was acknowledged",
  },
  "durable.moved-database": {
    seed: "issue 18",
    says: "a database that was deleted, replaced or moved under us refuses, with the file and the way on",
  },
} as const satisfies Record<string, Behaviour>
