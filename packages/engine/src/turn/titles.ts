/**
 * A title from a configured model, requested once, during the first turn of a session that nobody has named. The work does
 * not wait for it, and without an answer the session keeps the words of its first prompt.
 */
import type { Failure } from "@meridian/protocol"
import { Context, Effect, FiberMap, Layer } from "effect"

import { costOf } from "../domain/cost.ts"
import { LIMITS } from "../domain/limits.ts"
import { titleFrom } from "../domain/title.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import type { ModelFailure } from "../port/model.ts"
import { askText, findModel, FoldedSessions, Settings } from "../session/index.ts"

export class Titles extends Context.Service<
  Titles,
  { readonly begin: (session: string, transcript: Transcript) => Effect.Effect<void> }
>()("meridian/Titles") {
  static readonly layer: Layer.Layer<Titles, never, FoldedSessions | Settings> = Layer.effect(
    Titles,
    Effect.suspend(() => makeTitles),
  )
}

/** The first prompt has just become visible, and the title consists only of its words. */
export const wantsTitle = ({ title, conversation: { userTexts } }: Transcript, promoted: number): boolean =>
  promoted > 0 && title?.by === "words" && userTexts.length === promoted

const makeTitles = Effect.gen(function* () {
  const sessions = yield* FoldedSessions
  const settings = yield* Settings
  const asked = yield* FiberMap.make<string, void, Failure | ModelFailure>()

  const ask = (session: string, prompt: string): Effect.Effect<void, Failure | ModelFailure> =>
    Effect.gen(function* () {
      const { model, settings: chosen } = yield* findModel(settings, settings.titles.model)
      const { text, usage } = yield* askText({
        model,
        what: "the title",
        timeoutMs: settings.titles.timeoutMs,
        request: {
          prompt: [
            { role: "system", content: INSTRUCTIONS },
            {
              role: "user",
              content: [{ type: "text", text: prompt.slice(0, LIMITS.titlePromptCharacters) }],
            },
          ],
          tools: [],
          settings: { ...chosen, maxOutputTokens: Math.min(model.maxOutput, LIMITS.titleTokens) },
          sessionID: session,
        },
      })
      const cost = costOf(usage, model.price)
      yield* sessions.write({ session, durability: "progress" }, ({ title }) => ({
        kind: "append",
        events: [
          {
            type: "session.next.titled.1",
            data: { title: readTitle(text) ?? title?.text ?? "", model: model.id, usage, cost },
          },
        ],
        answer: () => undefined,
      }))
    })

  return Titles.of({
    begin: (session, { conversation: { userTexts } }) =>
      Effect.asVoid(
        FiberMap.run(asked, session, Effect.ignore(ask(session, userTexts.join("\n\n"))), {
          onlyIfMissing: true,
        }),
      ),
  })
})

const INSTRUCTIONS =
  "Give the conversation that begins with this message a title: at most eight words in the language of the message, in one line, without quotation marks and without a full stop. Do not answer the message."

/** Models put quotation marks and headings around their answer. */
const readTitle = (answer: string): string | undefined => {
  const line = answer.split(/[\r\n]/).find((one) => one.trim() !== "") ?? ""
  return titleFrom(line.trim().replaceAll(/^[#*"'`\s]+|["'`*\s]+$/gu, ""))
}
