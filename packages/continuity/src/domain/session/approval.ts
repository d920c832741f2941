/** Decisions and approvals in prose: which lines state one, and whether an approval was given or is still awaited. */

export const speaksOfDecision = (line: string): boolean =>
  /\b(?:decision|decided|chose|chosen|prefer|approved)\b/i.test(line) &&
  approvalOf(line) !== "awaited" &&
  !/\b(?:not|never|no|yet to be|to be|pending|awaiting|needs?|open) (?:decisions?|decided|chosen|approved)\b/i.test(
    line,
  )

export const approvalOf = (line: string): "given" | "awaited" | undefined => {
  if (!/\bapprov(?:al|als|ed)\b/i.test(line)) return undefined
  if (AWAITED.test(line)) return "awaited"
  if (/\bapproved\b|\bapprovals?\b[^.;]{0,60}\b(?:given|granted|received|recorded)\b/i.test(line))
    return "given"
  return undefined
}

const AWAITED =
  /\b(?:await(?:s|ing)?|waiting (?:for|on)|pending|needs?|requires?|request(?:s|ed|ing)?|ask(?:s|ed|ing)?(?: for)?|without|unless|until|before|once|if|when|not(?: yet)?|to be|get|obtain|still)\b[^.;]{0,60}\bapprov(?:al|ed)\b|\bapproval (?:is |still )?(?:pending|needed|required|outstanding|requested|missing|open)\b/i
