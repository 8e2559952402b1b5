/** Fetches what late expressions ask of the world, as the one who deploys; remembers it for one evaluation. */

import type { Principal } from '#kernel/principal.ts'
import type { Caller } from '#plane/caller.ts'
import type { Json, Need, Plan, PlanNode, Runtime, Tainted } from '#template/plan.ts'

/** Answers may raise new needs; a template that keeps asking is stopped here. */
const roundsMax = 20

/** Answers of these are secrets by their very name. */
const secretAction = /^list(.*keys?|.*secrets?|.*credentials?|.*tokens?)$/i

export interface Asking {
  readonly caller: Caller
  readonly principal: Principal
  readonly correlationId: string
  readonly plan: Plan
}

interface Late<T> {
  needs(runtime: Runtime): readonly Need[]
  evaluate(runtime: Runtime): T
}

/** Throws what the requests and the expressions throw. `known` answers ahead of any request. */
export async function evaluateLate<T>(
  asking: Asking,
  late: Late<T>,
  known: (need: Need) => Tainted | undefined = () => undefined,
): Promise<T> {
  const answers = new Map<string, Tainted>()
  const runtime: Runtime = { answer: (key) => answers.get(key) }
  for (let round = 0; round < roundsMax; round++) {
    const needs = late.needs(runtime).filter((need) => !answers.has(need.key))
    if (needs.length === 0) return late.evaluate(runtime)
    await Promise.all(
      needs.map(async (need) => {
        answers.set(need.key, known(need) ?? (await fetchNeed(asking, need)))
      }),
    )
  }
  throw new Error('an expression asks for ever more')
}

async function fetchNeed(asking: Asking, need: Need): Promise<Tainted> {
  const { caller, principal, correlationId } = asking
  const isReference = need.kind === 'reference'
  const outcome = await caller.call({
    method: isReference ? 'GET' : 'POST',
    path: isReference ? need.id : `${need.id}/${need.action}`,
    version: need.apiVersion ?? nodeOf(asking.plan, need)?.apiVersion ?? '',
    body: isReference ? undefined : need.body,
    principal,
    correlationId,
  })
  return { value: jsonOf(outcome.body), secure: !isReference && secretAction.test(need.action) }
}

function nodeOf(plan: Plan, need: Need): PlanNode | undefined {
  return plan.nodes.find((node) =>
    need.node === undefined
      ? node.id.toLowerCase() === need.id.toLowerCase()
      : node.key === need.node,
  )
}

/** What an answer looks like on the wire. */
export function jsonOf(body: unknown): Json {
  // The text was made of a value just now, so it is JSON.
  return body === undefined ? null : (JSON.parse(JSON.stringify(body)) as Json)
}
