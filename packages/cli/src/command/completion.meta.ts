import { STRING, objectOf } from "@meridian/protocol"
import { defineMeta } from "@meridian/spaces"

export const COMPLETION = defineMeta({
  name: "completion",
  audience: "human",
  summary: "Print the completion script of a shell.",
  fields: {
    shell: {
      type: "string",
      description: "The shell.",
      positional: true,
      required: true,
      choices: ["bash", "zsh", "fish"],
      value: "bash|zsh|fish",
    },
  },
  output: objectOf({ shell: STRING, script: STRING }),
  format: "text",
  examples: [
    "completion bash > ~/.local/share/bash-completion/completions/meridian",
    'completion zsh > "${fpath[1]}/_meridian"',
    "completion fish > ~/.config/fish/completions/meridian.fish",
  ],
})
