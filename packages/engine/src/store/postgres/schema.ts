/**
 * The tables on the server, one migration per version. A published one is never edited, and a new one only adds, so an
 * older node keeps working beside a newer one.
 *
 *   event     the log, and the only truth. `fence` and `mark` identify the writer: if its answer got lost, it recognises its
 *             own events.
 *   session   its head: the last event, who may write, and a summary for lists, which the writer derives.
 *   name      names that are unique across all sessions: of inputs, messages, questions.
 *   input     waiting inputs, so that a node can find them.
 *   request   questions whose call has not settled, and the place of the answer.
 *   approval  what people approved permanently, per session that recorded it.
 *   output    the full texts of long outputs, readable by every node.
 *   worker    the nodes, what they offer, and their sign of life.
 *   stay      the nodes of a session, one row each time it came to another.
 *
 * Everything else (messages, parts, pages, words) is derived by each node (`mirror.ts`).
 */
export const migrations = (schema: string): readonly string[] => [
  `
  create table ${schema}.store (version int not null, id uuid not null default gen_random_uuid());
  insert into ${schema}.store (version) values (0);

  create table ${schema}.worker (
    id text primary key,
    presence int not null,
    beat bigint not null default 0,
    host text not null,
    places int not null,
    address text,
    workspaces text[] not null default '{shared}',
    draining boolean not null default false
  ) with (fillfactor = 50);

  create table ${schema}.session (
    key bigint generated always as identity primary key,
    id text not null unique,
    published boolean not null,
    seq bigint not null,
    fence bigint not null default 0,
    owner text,
    workspace text not null default 'shared',
    interrupt_seq bigint not null default 0,
    summary text not null
  ) with (fillfactor = 50);
  create index session_owned on ${schema}.session (owner) where owner is not null;

  create table ${schema}.event (
    session bigint not null,
    seq bigint not null,
    type text not null,
    time bigint not null,
    fence bigint,
    mark text not null,
    data text not null,
    primary key (session, seq)
  ) partition by hash (session);
  ${Array.from(
    { length: PARTITIONS },
    (_, index) =>
      `create table ${schema}.event_${index} partition of ${schema}.event for values with (modulus ${PARTITIONS}, remainder ${index});`,
  ).join("\n  ")}

  create table ${schema}.name (
    kind text not null,
    id text not null,
    session bigint not null,
    seq bigint not null,
    primary key (kind, id)
  );
  create index name_session on ${schema}.name (session);

  create table ${schema}.input (
    session bigint not null,
    id text not null,
    seq bigint not null,
    resume boolean not null,
    primary key (session, id)
  );

  create table ${schema}.request (
    session bigint not null,
    id text not null,
    seq bigint not null,
    message text not null,
    call text not null,
    replied bigint,
    primary key (session, id)
  );

  create table ${schema}.approval (
    project text not null,
    action text not null,
    resource text not null,
    session bigint not null,
    seq bigint not null,
    time bigint not null,
    primary key (project, action, resource, session)
  );
  create index approval_session on ${schema}.approval (session);

  create table ${schema}.output (name text primary key, data bytea not null);
  `,
  `
  alter table ${schema}.session add column parked_until bigint;
  create index session_parked on ${schema}.session (parked_until) where parked_until is not null;
  `,
  `
  alter table ${schema}.store add column token text not null default encode(sha256(gen_random_uuid()::text::bytea), 'hex');
  alter table ${schema}.store add column token_given boolean not null default false;
  alter table ${schema}.worker add column format int not null default 1;
  alter table ${schema}.session add column format int not null default 1;
  alter table ${schema}.session add column host text;
  alter table ${schema}.input add column admitted bigint not null default 0;
  alter table ${schema}.input add column trace text;
  create index session_free on ${schema}.session (workspace, key) where owner is null and published;

  create table ${schema}.stay (
    session bigint not null,
    fence bigint not null,
    seq bigint not null,
    host text not null,
    time bigint not null,
    primary key (session, fence)
  );
  `,
]

/** The format that this node writes. A node leaves a session alone that was written in a newer format. */
export const FORMAT = 1

/** Changing it later would mean copying the log. */
const PARTITIONS = 16
