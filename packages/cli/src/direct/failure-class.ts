/** Classifies the failure of a run, from the engine's typed failures. Pure. */
import { classifyText, type FailureClass } from "@meridian/spaces"

export interface Told {
  /** A code of the catalogue, or the kind of a model failure. */
  readonly code: string
  readonly message: string
  /** The status of the provider's answer. */
  readonly status?: number
}

export const classOfFailure = ({ code, message, status }: Told): FailureClass => {
  const said = classifyText(message)
  switch (code) {
    // A billing problem is refused like a wrong key.
    case "authentication":
      return said === "quota" ? "quota" : "authentication"
    case "rate":
      return said === "quota" ? "quota" : "rate_limit"
    case "overloaded":
      return isServerError(status) || (status === undefined && said === "server_error")
        ? "server_error"
        : "overload"
    case "transport":
      return "connection"
    case "overflow":
      return "context_overflow"
    case "invalid-request":
      return said === "model_not_found" || said === "context_overflow" ? said : modelMissing(message)
    case "MODEL_NOT_FOUND":
    case "MODEL_NOT_USABLE":
      return "model_not_found"
    case "SESSION_NOT_FOUND":
      return "session_not_found"
    case "SESSION_IN_USE":
    case "FENCED":
      return "session_in_use"
    case "DATABASE_BUSY":
      return "overload"
    case "TURN_LIMIT":
      return "incomplete"
    case "INVALID_INPUT":
    case "AGENT_NOT_FOUND":
    case "LOCATION_NOT_FOUND":
    case "USAGE":
      return "invalid_launch"
    default:
      return "unclassified"
  }
}

const isServerError = (status = 0): boolean => status >= 500 && status !== 503 && status !== 529

/** Asked for an unknown model, a provider often says little more than its name. */
const modelMissing = (message: string): FailureClass =>
  /^model: |\bmodel\b.*\b(not|unknown|invalid|exist)\b|\bnot_found_error\b|\bnot found\b/i.test(message)
    ? "model_not_found"
    : "unclassified"
