/** How a hook calls this program: words for a shell, each in quotes. */
export const quotedProgram = (program: readonly string[]): string =>
  program.map((part) => `"${part.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`).join(" ")
