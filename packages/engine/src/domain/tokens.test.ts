import { expect, test } from "vitest"

import { estimateMedia, estimateText } from "./tokens.ts"

/** Counted once with OpenAI's o200k encoding (gpt-tokenizer 4). The texts are ours. */
const COUNTED: readonly (readonly [script: string, tokens: number, text: string])[] = [
  [
    "Latin",
    88,
    "Compaction is where long sessions die. The goal, the rules and the files in hand are gone after it, and the agent starts again from a summary that nobody checked. A durable log keeps what was said, and a brief that is put outside the summary cannot be lost by a bad one. When the window is full the older turns are replaced by a checkpoint; the pending prompt and the newest complete turn stay as they were written.",
  ],
  [
    "Cyrillic",
    84,
    "Сжатие контекста — это то место, где долгие сессии умирают. Цель, правила и открытые файлы исчезают, и агент начинает заново по краткому изложению, которое никто не проверял. Надёжный журнал хранит всё сказанное, а краткая памятка, помещённая вне изложения, не теряется из-за плохого пересказа.",
  ],
  [
    "Chinese",
    98,
    "上下文压缩是长会话消亡的地方。目标、规则和手头的文件都不见了，代理只能从一个没有人检查过的摘要重新开始。持久的日志保存了所说的一切，而放在摘要之外的简报不会因为糟糕的摘要而丢失。窗口满时，较早的轮次被检查点取代，待处理的提示和最新的完整轮次保持原样。",
  ],
  [
    "Arabic",
    69,
    "ضغط السياق هو المكان الذي تموت فيه الجلسات الطويلة. الهدف والقواعد والملفات المفتوحة تختفي، ويبدأ الوكيل من جديد من ملخص لم يتحقق منه أحد. السجل الدائم يحفظ كل ما قيل، والموجز الموضوع خارج الملخص لا يضيع بسبب ملخص سيئ.",
  ],
  [
    "code",
    102,
    `const promote = (runtime: Runtime, place: Place, boundary: Boundary) => {
  const { store, settings } = runtime
  return store.log.write({ sessionID, durability: "NORMAL", fence }, ({ session, append }) => {
    if (session.directory !== directory) return { kind: "moved" } as const
    append(chosen.map((input) => ({ type: "promoted", data: { seq: input.admittedSeq } })))
  })
}`,
  ],
]

test.each(COUNTED)("%s is estimated within a fifth of its real tokens", (_script, tokens, text) => {
  const error = Math.abs(estimateText(text) / tokens - 1)
  expect(error).toBeLessThan(0.2)
})

test("an image costs what providers scale it to, not the length of its base64", () => {
  expect(estimateMedia("image/png", "A".repeat(4_000_000))).toBe(1_600)
})

test("a document costs by its length", () => {
  expect(estimateMedia("application/pdf", "A".repeat(4_000_000))).toBe(125_000)
})
