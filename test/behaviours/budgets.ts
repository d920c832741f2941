import type { Behaviour } from "../behaviours.ts"

const promise = (says: string): Behaviour => ({ seed: "issue 17", says })

/** No way to overspend: caps and breakers, in the engine and for runs. */
export const BUDGET_BEHAVIOURS = {
  "cap.question": promise(
    "a session that has used up its budget waits with a durable question before its next turn; an answer raises the cap and the same work goes on",
  ),
  "cap.measures": promise("caps hold for cost, tokens, turns and time at work, each by itself"),
  "cap.counts": promise(
    "turns, their retries and compactions count, over restarts; what a fork brought along does not",
  ),
  "cap.levels": promise(
    "the tightest cap of the engine, the agent and the session counts; what a person set goes before all of them",
  ),
  "cap.restart": promise(
    "a budget that was used up stays so in another process, and its question is still open there",
  ),
  "cap.run": promise("no demand gets past a budget that is used up: neither run nor wake nor a new prompt"),
  "cap.stop": promise("the answer stop ends the work; the next prompt is asked about again"),
  "cap.below-spent": promise(
    "a cap at or below what is used up is refused with a code, and nothing is stored",
  ),
  "cap.bad-answer": promise("an answer that is no budget is refused and the question stays open"),
  "cap.set": promise(
    "setBudget sets a cap at any time, and answers the question of a session that waits for it",
  ),
  "cap.told": promise(
    "the agent is told what is left once at 50, 80 and 95 percent of each cap, behind the conversation, also over a restart",
  ),
  "cap.unpriced": promise(
    "where a price is unknown caps on tokens hold, and a warning says that the cap on cost does not",
  ),
  "cap.whole-tool": promise("a budget that is used up while a tool works lets it end"),
  "cap.compaction": promise(
    "a compaction that uses up the budget is followed by the question, not by a turn",
  ),
  "cap.nothing-left": promise("an answer when nothing is left to go on with ends the waiting"),
  "breaker.repetition": promise(
    "an identical call, result included, is pointed out the third time and refused the sixth, over compactions and restarts",
  ),
  "breaker.poll": promise("a call whose result changes may be made as often as it likes"),
  "breaker.compactions": promise(
    "compactions in more than one of three turns are warned of once; after five in a row a question asks whether to go on",
  ),
  "breaker.fill": promise(
    "a provider that reports far more than we weigh is believed once, and not twice in a row",
  ),
  "run-cap.host-flag": promise(
    "a host that keeps to a budget by itself is given what is left as its own flag",
  ),
  "run-cap.pauses": promise(
    "a run whose cap is reached is stopped at the next usage line, with its whole tool, and waits as paused with the question",
  ),
  "run-cap.resume": promise(
    "run resume with a higher cap goes on in the same conversation; without one it says which cap holds the run",
  ),
  "run-cap.below-spent": promise("run resume refuses a cap that is used up already, and nothing is written"),
  "run-cap.config": promise(
    "[budget] gives runs their caps; a flag of a person goes before it, an agent may only lower it",
  ),
  "run-cap.folder": promise("the configuration of a folder lowers the user's budget and never raises it"),
  "run-cap.sums": promise("a tree, a space and a day have budgets over all their runs and harnesses"),
  "run-cap.crash": promise("what a run had spent when its worker was killed counts when it is carried on"),
  "run-cap.price": promise(
    "a harness that tells no cost is priced by the catalogue; without a price tokens, turns and time hold, and a warning says so",
  ),
  "run-cap.engine": promise(
    "a run of the engine has its budget inside the engine: the breach is a question there, and a higher cap goes on in the same session",
  ),
  "questions.answer": promise(
    "meridian questions lists permissions, questions and paused runs, and meridian answer answers each of them",
  ),
  "questions.ask": promise(
    "with --ask a run of the engine waits for the answer to a permission, shows that it waits, and goes on with it; without it is refused",
  ),
  "run-cap.http": promise("a run whose budget is used up goes on with a higher cap over HTTP"),
  "overspend.run": promise(
    "a model in circles uses at most its cap and one turn, in each harness, also when everything is killed on the way",
  ),
  "overspend.tree": promise(
    "eight runs of a tree over three harnesses use at most the cap of the tree and one turn each, also over a kill",
  ),
  "overspend.day": promise(
    "runs of several spaces use at most the cap of the day and one turn each, also over a kill",
  ),
  "overspend.unpriced": promise(
    "where no price is known and usage is told at the end only, caps on tokens and turns hold to the turn",
  ),
  "run-cap.told": {
    seed: "issue 17",
    says: "an agent of another harness is told at 50, 80 and 95 % what is left of its budget, once",
  },
  "run-cap.own": promise("a run raises neither its own cap nor one above it"),
} as const satisfies Record<string, Behaviour>
