/**
 * A session on a terminal. Keys become edits, answers and commands; events become rows. This file carries out what is
 * decided. What a key does to a line and how an event looks are decided elsewhere.
 */
import type { LiveItem } from "@meridian/engine"
import { Failure, oneLine, renderFailure, type PermissionReply } from "@meridian/protocol"
import { followEvents } from "@meridian/server"
import type { World } from "@meridian/spaces"

import { followChildren } from "../children.ts"
import { broughtAlong, unreadable } from "../named-things.ts"
import { idsOf } from "../open-engine-here.ts"
import type { OpenSession } from "../open-session.ts"
import { openAttachments } from "./attachments.ts"
import { wholeCall } from "./call-content.ts"
import { cutTo, wrapText } from "./columns.ts"
import { completeLine } from "./complete.ts"
import { decideKey, isArmedBy, type Deed, type Situation } from "./decide.ts"
import { clear, EMPTY_EDITOR, insertText, type Editor, type Key } from "./editor.ts"
import { filesBeginning } from "./files-beginning.ts"
import { historyRows, inputOf, readHistory, waitingRows } from "./history.ts"
import { answersIn, inquiryRows, isDecline, type Inquiry } from "./inquiry.ts"
import { answersTo, questionRows } from "./question.ts"
import { layOut, usable, type Live } from "./screen.ts"
import { HELP, sessionCommands } from "./session-command.ts"
import { readTyped, SLASH_COMMANDS, templateRow, type Typed } from "./slash-command.ts"
import { hintFor, LEAVING, settledRows, statusRow } from "./status.ts"
import { styleFor } from "./style.ts"
import { openTerminal, type Input, type Streams } from "./terminal.ts"
import { openView, userRows } from "./view.ts"
import { openWork, type Settled } from "./work.ts"

/** For the clock on the working line. */
const TICK_MS = 1_000
/** How many choices Tab shows at once. */
const MOST_SHOWN = 40
const INTERRUPT: Key = { name: "c", sequence: "\u0003", ctrl: true, meta: false }
/** How many named files of a prompt are listed. */
const MOST_NAMED = 8
/** A call that ends takes its question along. */
const CHANGES_INQUIRIES: ReadonlySet<string> = new Set([
  "session.next.question.asked.1",
  "session.next.question.replied.1",
  "session.next.tool.failed.1",
])

/** Rows of one question in the scrollback. */
const MOST_VIEWED = 20_000

export interface ConversationOptions {
  readonly opened: OpenSession
  readonly world: World
  readonly streams: Streams
  /** The session existed before: its last messages are shown. */
  readonly continued: boolean
  readonly firstPrompt: string | undefined
}

/** How a conversation was left: for good, or for another one. */
export type Left =
  | { readonly tag: "leave"; readonly code: number }
  | { readonly tag: "new" }
  | { readonly tag: "open"; readonly sessionID: string }

/** Resolves when the person has left and the engine is closed. */
export const converse = async (options: ConversationOptions): Promise<Left> => {
  const { opened, world, streams } = options
  const { engine, session } = opened
  const { sessions, permissions, questions } = engine
  const sessionID = session.id
  const style = styleFor(world.env)
  const own = new Set<string>()
  const tasks = new Set<Promise<void>>()
  const left = Promise.withResolvers<Left>()
  let editor: Editor = EMPTY_EDITOR
  let leaving = false
  /** The question whose refusal is being explained. */
  let explaining: string | undefined
  let model = session.model ?? opened.defaultModel
  let agent = session.agent
  let waiting = 0
  let templates: Awaited<ReturnType<typeof sessions.commands>> = []
  /** The next Ctrl-C leaves. */
  let armed = false
  let workingSince = 0
  let confirming: ((yes: boolean) => void) | undefined

  const work = openWork({
    sessions,
    sessionID,
    shown: (seq) => follower.upTo(seq),
    onBegin: () => {
      workingSince = world.clock.now()
      redraw()
    },
    onSettled: (ending) => tellSettled(ending),
  })
  const terminal = openTerminal(streams, world.env, (input) => receive(input))
  const view = openView({
    style,
    isOwn: (id) => own.has(id),
    tellsBeginnings: terminal.isDumb,
    isWorking: work.isWorking,
  })
  const attachments = openAttachments(session.location.directory, world.env)
  const width = (): number => usable(terminal.size())
  /** Separates earlier rows from the next ones. */
  const gap = terminal.isDumb ? [] : [""]

  const live = (): Live => {
    const question = view.question()
    const mark = explaining === undefined ? "> " : "why? "
    if (terminal.isDumb) {
      const quiet = work.isWorking() && question === undefined && editor.text === ""
      return { rows: [quiet ? "" : mark + editor.text.replaceAll("\n", " ")], cursor: { row: 0, column: 0 } }
    }
    const size = terminal.size()
    return layOut(
      {
        going: view.going(usable(size)),
        question:
          question === undefined
            ? []
            : questionRows(question, { size, style, hint: hintNow(question.action) }),
        status: question === undefined ? statusNow(usable(size)) : undefined,
        mark,
        editor,
      },
      size,
    )
  }

  const statusNow = (columns: number): string | undefined => {
    if (!work.isWorking()) return armed ? style.dim(cutTo(LEAVING, columns)) : undefined
    const progress = {
      stopping: work.isStopping(),
      waiting,
      elapsedMs: world.clock.now() - workingSince,
      spent: view.spent(),
    }
    return statusRow(progress, { width: columns, style })
  }

  const hintNow = (action: string): string =>
    hintFor({ action, explaining: explaining !== undefined, draft: editor.text })

  const tell = (...rows: readonly string[]): void => terminal.draw(rows, live())
  const redraw = (): void => tell()
  const say = (text: string, colour: (row: string) => string = (row) => row): void =>
    tell(...wrapText(text, width()).map(colour))

  /** Everything started is owned: we wait for it before we leave, and show its failure. */
  const start = (act: () => Promise<void>): void => {
    const task = act()
      .catch((error: unknown) => {
        if (!(error instanceof Failure)) throw error
        if (!leaving && error.code !== "ENGINE_CLOSED") say(renderFailure(error), style.bad)
      })
      .catch((error: unknown) => left.reject(error))
      .finally(() => tasks.delete(task))
    tasks.add(task)
  }

  const leaveFor = (how: Left): void => {
    leaving = true
    left.resolve(how)
  }
  const leave = (code: number): void => leaveFor({ tag: "leave", code })

  const send = (text: string, delivery: "steer" | "queue"): void => {
    tell(...gap, ...userRows(text, width(), style))
    if (work.isWorking())
      say(delivery === "queue" ? "(waits until this is done)" : "(joins the current work)", style.dim)
    const id = `msg_${world.uuid()}`
    own.add(id)
    const { files, problems } = attachments.of(text)
    for (const problem of problems) say(problem, style.notice)
    if (files.length > 0)
      say(`(with ${files.map(({ name = "an image" }) => oneLine(name)).join(", ")})`, style.dim)
    const prompt = { text, ...(files.length === 0 ? {} : { files }) }
    start(async () => {
      // Admitted first, woken afterwards: no other engine on this database takes it up.
      const receipt = await sessions.prompt({ sessionID, id, prompt, delivery, resume: false, expand: true })
      for (const problem of unreadable(receipt.prompt)) say(problem, style.notice)
      const along = broughtAlong(receipt.prompt)
      if (along.length > 0)
        say(
          `(with ${along.slice(0, MOST_NAMED).join(", ")}${along.length > MOST_NAMED ? ` and ${along.length - MOST_NAMED} more` : ""})`,
          style.dim,
        )
      await sessions.wake(sessionID)
      await work.watch()
    })
  }

  const tellSettled = ({ failure, inputs }: Settled): void => {
    waiting = inputs
    const errorTold = view.takeError()
    tell(
      ...settledRows(
        {
          ...view.takeSpent(),
          waiting,
          failure: failure === undefined || errorTold ? undefined : renderFailure(failure),
        },
        { models: opened.models, width: width(), style },
      ),
    )
  }

  const answer = (requestID: string, reply: PermissionReply, message?: string): void => {
    explaining = undefined
    start(async () => {
      try {
        await permissions.reply({ requestID, reply, ...(message === undefined ? {} : { message }) })
      } catch (error) {
        // Answered elsewhere in between. The event says so.
        if (!(error instanceof Failure && error.code === "REQUEST_NOT_FOUND")) throw error
      }
      await work.watch()
    })
  }

  const openOther = async (choice: string | undefined): Promise<void> => {
    const chosen = await commands.sessions(choice)
    if (chosen !== undefined) leaveFor({ tag: "open", sessionID: chosen })
  }

  const pasteImage = async (): Promise<void> => {
    const taken = await attachments.paste()
    if ("problem" in taken) return say(taken.problem, style.notice)
    editor = insertText(editor, `${taken.mark} `)
    redraw()
  }

  const complete = (): void => {
    const completion = completeLine(editor, {
      commands: [...SLASH_COMMANDS.map(([name]) => name), ...templates.map(({ name }) => `/${name}`)],
      models: idsOf(opened.models),
      agents: opened.agents,
      files: (begun) => filesBeginning(session.location.directory, begun),
    })
    if (completion === undefined) return
    editor = completion.editor
    tell(
      ...completion.shown
        .slice(0, MOST_SHOWN)
        .map((choice) => style.dim(cutTo(`  ${oneLine(choice)}`, width()))),
    )
  }

  /** Sent to the model with the next prompt. */
  const note = async (text: string): Promise<void> => {
    const id = `msg_${world.uuid()}`
    own.add(id)
    await sessions.prompt({ sessionID, id, prompt: { text }, resume: false })
  }

  const current = () => ({ model, agent })
  /** A question outside a call. The next submitted line answers it. */
  const confirm = (question: string): Promise<boolean> => {
    say(`${question} (yes or no)`, style.notice)
    return new Promise((done) => {
      confirming = done
    })
  }

  /** Questions of calls, here and in children, oldest first. The next submitted line answers the first. */
  let inquiries: readonly Inquiry[] = []
  const lookForInquiries = async (asking: string): Promise<void> => {
    const open = (await questions.list({ sessionID: asking })).filter(({ callID }) => callID !== undefined)
    const before = new Set(inquiries.map(({ id }) => id))
    inquiries = [...inquiries.filter((one) => one.sessionID !== asking), ...open]
    for (const one of open)
      if (!before.has(one.id)) tell(...gap, ...inquiryRows(one, width()).map(style.notice))
  }

  const answerInquiry = (inquiry: Inquiry, typed: string): void => {
    inquiries = inquiries.filter(({ id }) => id !== inquiry.id)
    start(async () => {
      try {
        await questions.reply({ requestID: inquiry.id, answer: answersIn(typed, inquiry) })
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        // Nobody asks any more: then it was said to the model.
        if (error.code === "QUESTION_NOT_FOUND") return isDecline(typed) ? undefined : send(typed, "steer")
        say(renderFailure(error), style.notice)
        await lookForInquiries(inquiry.sessionID)
      }
      await work.watch()
    })
  }

  const commands = sessionCommands({ opened, style, work, current, note, confirm, tell, say })

  const submit = (text: string): void => {
    if (confirming !== undefined) {
      const done = confirming
      confirming = undefined
      tell(...gap, style.dim(cutTo(`> ${oneLine(text)}`, width())))
      return done(/^\s*y(?:es)?\s*$/i.test(text))
    }
    const [inquiry] = inquiries
    if (inquiry !== undefined && text.trim() !== "" && (!text.startsWith("/") || isDecline(text))) {
      tell(...gap, style.dim(cutTo(`> ${oneLine(text)}`, width())))
      return answerInquiry(inquiry, text)
    }
    const typed = readTyped(text)
    if (typed.tag !== "say" && typed.tag !== "queue")
      tell(...gap, style.dim(cutTo(`> ${oneLine(text)}`, width())))
    switch (typed.tag) {
      case "say":
        return send(typed.text, "steer")
      case "queue":
        return send(typed.text, "queue")
      case "wrong":
        return start(() => sendTemplate(text, typed))
      case "leave":
        return leave(0)
      case "help":
        return say([HELP, ...templates.map(templateRow)].join("\n"))
      case "new":
        return leaveFor({ tag: "new" })
      case "undo":
        if (work.isWorking()) return say("The agent still works; Ctrl-C stops it first.", style.notice)
        return start(async () => {
          const words = await commands.undo(typed.wish)
          if (words === undefined || editor.text !== "") return
          editor = insertText(editor, words)
          redraw()
        })
      case "redo":
        if (work.isWorking()) return say("The agent still works; Ctrl-C stops it first.", style.notice)
        return start(commands.redo)
      case "sessions":
        return start(() => openOther(typed.choice))
      case "compact":
        return start(commands.compact)
      case "model":
        return start(() => commands.model(typed.name))
      case "agent":
        return start(() => commands.agent(typed.name))
    }
  }

  /** A word that is not one of our commands may be a template of the project or the person. */
  const sendTemplate = async (
    text: string,
    { problem, template }: Extract<Typed, { readonly tag: "wrong" }>,
  ): Promise<void> => {
    if (template !== undefined) templates = await sessions.commands(sessionID)
    if (templates.some(({ name }) => name === template)) return send(text, "steer")
    say(oneLine(problem), style.notice)
  }

  const situation = (): Situation => ({
    editor,
    question: view.question(),
    explaining,
    working: work.isWorking(),
    stopping: work.isStopping(),
    armed,
  })

  const carryOut = (deed: Deed): void => {
    switch (deed.tag) {
      case "nothing":
        return
      case "redraw":
        return redraw()
      case "edited":
        editor = deed.editor
        // A paste is drawn when it is whole.
        return editor.pasted === undefined ? redraw() : undefined
      case "submit":
        editor = deed.editor
        return submit(deed.text)
      case "answer":
        if (explaining !== undefined) editor = clear(editor)
        return answer(deed.requestID, deed.reply, deed.message)
      case "complete":
        return complete()
      case "paste-image":
        editor = deed.editor
        return start(pasteImage)
      case "warn":
        return terminal.isDumb ? say(LEAVING) : redraw()
      case "explain":
        explaining = deed.requestID
        return redraw()
      case "show": {
        const asked = view.question()
        const lines = asked === undefined ? [] : wholeCall(asked.resources, asked.input)
        return tell(...lines.flatMap((line) => wrapText(line, width())).slice(0, MOST_VIEWED))
      }
      case "stop-explaining":
        explaining = undefined
        editor = clear(editor)
        return redraw()
      case "stop-work":
        work.beginStopping()
        redraw()
        return start(() => sessions.interrupt(sessionID))
      case "suspend":
        return terminal.suspend()
      case "leave":
        return leave(0)
    }
  }

  const press = (key: Key): void => {
    const deed = decideKey(situation(), key)
    armed = isArmedBy(key)
    carryOut(deed)
  }

  const receive = (input: Input): void => {
    switch (input.tag) {
      case "key":
        return press(input.key)
      case "resized":
        return redraw()
      case "closed":
        return leave(0)
    }
  }

  const follower = followEvents(engine, { sessionID, after: session.seq }, (event) => {
    if (event.type === "session.next.model.switched.1") model = event.data.model
    if (event.type === "session.next.agent.switched.1") agent = event.data.agent
    if (event.type === "session.next.prompt.admitted.1") waiting += 1
    if (event.type === "session.next.prompt.promoted.1" || event.type === "session.next.prompt.cancelled.1")
      waiting = Math.max(0, waiting - 1)
    tell(...view.event(event, width()))
    if (CHANGES_INQUIRIES.has(event.type)) start(() => lookForInquiries(sessionID))
    const question = view.question()
    if (terminal.isDumb && event.type === "session.next.permission.asked.1" && question !== undefined)
      tell(...questionRows(question, { size: terminal.size(), style, hint: answersTo(question.action) }))
  })

  const gone = new AbortController()
  const tellLive = (item: LiveItem): void => {
    const rows = view.live(item, width())
    if (rows.length > 0 || !terminal.isDumb) tell(...rows)
  }
  start(async () => {
    for await (const item of sessions.live(sessionID, { signal: gone.signal })) tellLive(item)
  })

  // A child asks the same person.
  start(() =>
    followChildren(engine, sessionID, {
      signal: gone.signal,
      changed: async (child) => {
        await lookForInquiries(child)
        const open = await permissions.list({ sessionID: child })
        view.askFor(
          child,
          open.map((request) => Object.assign({ always: request.resources, input: undefined }, request)),
        )
        redraw()
      },
    }),
  )

  const ticking = setInterval(() => {
    if (work.isWorking() && !terminal.isDumb) redraw()
  }, TICK_MS)

  const unlisten = world.onSignal((signal) => {
    if (signal === "SIGINT") press(INTERRUPT)
    else leave(signal === "SIGHUP" ? 129 : 143)
  })

  try {
    tell(
      ...wrapText(`Meridian direct: ${oneLine(model)}, agent ${oneLine(agent)}`, width()).map(style.bold),
      ...wrapText("/help shows the commands; Ctrl-C twice leaves.", width()).map(style.dim),
      ...opened.notices.flatMap((notice) => wrapText(notice, width())).map(style.notice),
    )
    const history = options.continued ? await readHistory(engine, sessionID) : undefined
    if (history !== undefined) {
      const inputs = await sessions.inputs(sessionID)
      waiting = inputs.length
      for (const { id, prompt } of inputs) view.awaitInput({ id, text: prompt.text })
      tell(
        ...historyRows(history, { width: width(), style }),
        ...waitingRows(inputs, { width: width(), style }),
      )
      editor = {
        ...editor,
        history: history.messages.flatMap((message) => (message.type === "user" ? [message.text] : [])),
      }
    }
    for (const request of await permissions.list({ sessionID }))
      view.ask({
        ...request,
        always: request.resources,
        input: history === undefined ? undefined : inputOf(history, request.callID),
      })
    await lookForInquiries(sessionID)
    redraw()
    start(async () => {
      templates = await sessions.commands(sessionID)
    })
    if (options.firstPrompt !== undefined) send(options.firstPrompt, "steer")
    return await left.promise
  } finally {
    clearInterval(ticking)
    unlisten()
    terminal.close()
    gone.abort()
    confirming?.(false)
    // Running work is stopped and settled. A question stays open until the session continues.
    await engine.close()
    await follower.close().catch(() => undefined)
    await Promise.all(tasks)
  }
}
