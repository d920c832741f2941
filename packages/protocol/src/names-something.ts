/** Whether a prompt may name a file, an agent or a command, so that it is worth looking. Most prompts name nothing. */
export const namesSomething = (text: string): boolean => /@|^\/|file:\/\//u.test(text)
