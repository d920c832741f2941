/** Plain text for the conversation: a tab has a width that only the terminal knows, so it becomes spaces. */
import { plainText as withoutControls } from "@meridian/protocol"

export const plainText = (text: string): string => withoutControls(text).replaceAll("\t", "    ")
