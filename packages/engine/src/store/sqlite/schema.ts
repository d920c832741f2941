/**
 * The tables, one migration per schema version (`pragma user_version` counts the applied ones; a published one is never
 * edited).
 *
 *   event          the log. `id` is session key * 2^31 + seq, so one session's events lie together in order and need no
 *                  second index. Rows are never updated, and deleted only while they
 *                  belong to no session yet (a draft nobody published). A row is valid when (1) seq starts at 1 and has no
 *                  gap within its session, (2) type is a stored type of the protocol, (3) data decodes with its codec.
 *                  `time` is informative: order comes from seq alone.
 *   session, message, part, input, request, approval
 *                  projections: derived from the events in the same transaction, can be dropped and rebuilt. They hold
 *                  positions, not content: the text of a message is read from its event, so nothing is stored twice and
 *                  no event rewrites a growing row.
 *   owner, lease   who may write now. Not derived: `fence` only grows, and a drain's appends carry the fence they were
 *                  given.
 */
export const MIGRATIONS: readonly string[] = [
  `
  create table event (
    id integer primary key,
    type text not null,
    time integer not null,
    data text not null
  ) strict;

  create table session (
    key integer primary key,
    id text not null unique,
    seq integer not null,
    directory text not null,
    agent text,
    model text,
    title text,
    created integer not null,
    updated integer not null,
    interrupt_seq integer not null default 0,
    open_step integer,
    todo_seq integer,
    failed_seq integer,
    input_tokens integer not null default 0,
    output_tokens integer not null default 0,
    reasoning_tokens integer not null default 0,
    cache_read_tokens integer not null default 0,
    cache_write_tokens integer not null default 0,
    cost real not null default 0
  ) strict;

  create table input (
    id text primary key,
    admitted integer not null,
    delivery text not null,
    resume integer not null,
    promoted integer,
    cancelled integer
  ) strict, without rowid;
  create index input_pending on input (admitted) where promoted is null and cancelled is null;

  create table message (
    position integer primary key,
    id text not null unique,
    type text not null,
    ended integer
  ) strict;

  create table part (
    position integer primary key,
    message integer not null,
    call text,
    settled integer
  ) strict;

  create table request (
    id text primary key,
    asked integer not null,
    message integer not null,
    call text not null,
    replied integer,
    withdrawn integer not null default 0
  ) strict, without rowid;
  create index request_open on request (asked) where replied is null and withdrawn = 0;
  create index request_by_call on request (message, call);

  create table approval (
    project text not null,
    action text not null,
    resource text not null,
    position integer not null,
    primary key (project, action, resource)
  ) strict, without rowid;

  create table owner (
    id text primary key,
    pid integer not null,
    started text not null,
    boot text not null,
    beat integer not null
  ) strict, without rowid;

  create table lease (
    session integer primary key,
    fence integer not null,
    owner text
  ) strict;
  create index lease_held on lease (owner) where owner is not null;

  create view event_log as
    select session.id as session, event.id % 2147483648 as seq, event.type, event.time, event.data
    from event join session on session.key = event.id / 2147483648;
  `,
  `alter table session add column archived integer not null default 0;`,
  // From here on `withdrawn` is where the call was settled, even for a question that had been answered.
  `
  update request set withdrawn = coalesce((
      select part.settled from part
      where part.position between request.message and request.asked
        and part.message = request.message and part.call = request.call
      order by part.position desc limit 1), 0)
    where withdrawn = 0;
  create index request_answered on request (asked) where replied is not null and withdrawn = 0;
  `,
  `
  alter table session add column parked_until integer;
  create index session_parked on session (parked_until) where parked_until is not null;
  `,
  `alter table session add column workspace text;`,
  // The sequence of the engine's question that the session waits with. Questions of calls are rows of `request`.
  `alter table session add column question_seq integer;`,
  // The requested value that a message gave.
  `alter table message add column output integer;`,
  // The undo that took it out of the conversation.
  `alter table message add column undone text;`,
  // The origin of the title: null is a person, `words` the first prompt, `model` a model.
  `alter table session add column title_by text;`,
]

/** From this version on, unnamed sessions have a title. */
export const TITLES_SINCE = 9

/** One session's share of the id space. */
export const STRIDE = 2_147_483_648

/** The next free key. A lease may have reserved a key for a session that is still being written (`drafts.ts`). */
export const NEXT_KEY = `select max(
  (select coalesce(max(key), 0) from session), (select coalesce(max(session), 0) from lease)) + 1 as key`

export const positionOf = (key: number, seq: number): number => key * STRIDE + seq
export const seqOf = (position: number): number => position % STRIDE
export const keyOf = (position: number): number => Math.floor(position / STRIDE)
