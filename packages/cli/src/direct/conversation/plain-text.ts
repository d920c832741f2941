/** Plain text for the conversation. Only the terminal knows the width of a tab, so tabs become spaces. */
import { plainText as withoutControls } from "@meridian/protocol"

export const plainText = (text: string): string => withoutControls(text).replaceAll("\t", "    ")
