import * as fc from "fast-check"
import { expect, test } from "vitest"

import { openDocument } from "./stage.ts"
import { readTaskList } from "./task-list.ts"

const task = fc.record({
  indent: fc.constantFrom("", "  ", "\t", "      "),
  marker: fc.constantFrom("-", "*", "+", "1.", "27)"),
  box: fc.constantFrom("[ ]", "[x]", "[X]", "[-]", "[]"),
  number: fc.constantFrom("", "3. ", "3.1 ", "3.1.2: ", "**4.** ", "Task 5: "),
  title: fc.stringMatching(/^[a-z][a-z ()\-`.]{0,20}[a-z]$/),
})

test("every checkbox is one task, done or open, whatever its form", () => {
  fc.assert(
    fc.property(fc.array(task, { maxLength: 20 }), (tasks) => {
      const text = tasks
        .map(({ indent, marker, box, number, title }) => `${indent}${marker} ${box} ${number}${title}\n`)
        .join("some text\n")
      const { done, open } = readTaskList(openDocument(text, false))
      const isDone = ({ box }: { readonly box: string }): boolean => box.toLowerCase() === "[x]"
      expect([done.length, open.length]).toEqual([
        tasks.filter(isDone).length,
        tasks.filter((each) => !isDone(each)).length,
      ])
      for (const [index, { title }] of tasks.filter(isDone).entries()) expect(done[index]).toContain(title)
    }),
  )
})
