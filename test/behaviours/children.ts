import type { Behaviour } from "../behaviours.ts"

const promise = <const Says extends string>(says: Says) => ({ seed: "issue 15", says }) as const

/** What issue 15 adds around prompts and sessions: mentions, references, synthetic messages, children. */
export const CHILDREN_BEHAVIOURS = {
  "fork.at": promise(
    "a fork at a message has the history up to that message and with it, and nothing behind",
  ),
  // Rows 17 and 18
  "mentions.once": promise(
    "what a prompt names is looked up once: a retry gets the first receipt however the files stand by then",
  ),
  "mentions.unreadable": promise("what cannot be read is told to the model and to the caller"),
  "mentions.inside": promise(
    "no mention leads out of the project, by no way and no link, unless a rule allows it",
  ),
  "mentions.bounded": promise(
    "one prompt brings a bounded number of files and bytes along, and says what is left out",
  ),
  "commands.templates": promise(
    "a command behind a slash becomes its template, with its arguments and its mentions",
  ),
  "commands.cast": promise(
    "a template that asks for another agent or model is not obeyed in silence: the model and the caller are told",
  ),
  "commands.shell": promise(
    "shell lines of a project's templates run only in a trusted folder, only allowed ones, and no argument becomes a command",
  ),
  // Rows 20 and 21
  "references.mention": promise(
    "a prompt names a file of a reference; what is read there discovers that reference's instructions",
  ),
  "synthetic.retry": promise("a synthetic message with a used id is that message or refused"),
  // Children
  "children.task": promise(
    "a call gives work to another agent in a session of its own, and gets what it said last",
  ),
  "children.rights": promise("a child may do what its agent and its parent may do, and nothing else"),
  "children.refused": promise(
    "an agent for people cannot be called, and work is given on at most three times",
  ),
  "children.interrupt": promise("who stops a session stops the children it waits for"),
  "children.resume": promise(
    "a child that was cut off is gone on with when its parent is, and never begun twice",
  ),
  "children.background": promise("what comes of work in the background is an input of the parent, once"),
  "children.budget": promise("a session and its children have one budget"),
  "children.delete": promise("a session is deleted with its children, and not while one of them is at work"),
  "question.tool": promise(
    "a question of the model waits for whoever is there, over a restart of the engine",
  ),
  "question.terminal": promise(
    "a question of the model is asked on the terminal, answered by a number or words, or declined",
  ),
  "webfetch.bounded": promise(
    "a page of the web is read within bounds, and no other host than the one that was named",
  ),
  "webfetch.private": promise(
    "no page is read from inside somebody's network, by no spelling of its address",
  ),
  "session.search": promise("one session is searched for words"),
  "children.crash": promise(
    "a process that dies at any commit of a family leaves one that goes on and does nothing twice",
  ),
  "mentions.run": promise("a run expands its prompt, and its record says what could not be read"),
  "mentions.runs-of-others": promise(
    "a run of any other harness gets what its prompt names as text, under the same rules and bounds",
  ),
  "children.run": promise("the children of a run ask nobody, and the run ends"),
  "session.fields": promise("a field that nobody knows is refused in the process too; workspaceID is kept"),
} as const satisfies Record<string, Behaviour>
