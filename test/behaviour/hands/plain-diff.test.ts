import { expect } from "vitest"

import { openRepositoryScene } from "../../scene/repository.ts"
import { verifies } from "../../verifies.ts"

verifies("run.diff-plain", async () => {
  const scene = openRepositoryScene({ "a.txt": "one\n", "b.txt": "mine\n" })
  scene.write({ "b.txt": "mine, not committed\n" })
  const before = scene.git("status", "--porcelain")
  await scene.work({ "a.txt": "two\n", "new\nname.txt": "new\n" }, { worktree: false })
  const { document, text } = await scene.call("run.diff", { run_id: "r1", space: "s1" })
  expect(document).toMatchObject({
    files: [
      { path: "a.txt", change: "modified", additions: 1, deletions: 1 },
      { path: "new\nname.txt", change: "added" },
    ],
  })
  expect(text).not.toContain("b.txt")
  // Later changes are not the run's work.
  scene.write({ "a.txt": "three\n", "later.txt": "later\n" })
  const names = await scene.call("run.diff", { run_id: "r1", name_only: true, space: "s1" })
  expect(names.text).not.toContain("later.txt")
  expect(scene.git("diff", "--cached", "--name-only")).toBe("")
  expect(before).toBe(" M b.txt")
  expect(scene.git("for-each-ref", "--format=%(objecttype)", "refs/meridian")).toBe("tree\ntree")
})
