import { implement } from "@meridian/spaces"

import { COMMANDS } from "../commands.ts"
import { bashScript } from "../completion/bash-script.ts"
import { fishScript } from "../completion/fish-script.ts"
import { readGrammar } from "../completion/grammar.ts"
import { zshScript } from "../completion/zsh-script.ts"
import { offeredTo } from "../help.ts"
import { COMPLETION } from "./completion.meta.ts"

export const completion = implement(COMPLETION, {
  run: async ({ shell }) => ({ shell, script: SCRIPTS[shell](readGrammar(offeredTo(COMMANDS, "human"))) }),
  text: ({ script }) => script,
})

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const
