/**
 * How a type declares that its writes answer. Applied to the outcome of a verb when that is whole: a dry run sees the
 * common outcome.
 */

import type { Tx } from '#stores/store.ts'
import type { CompiledStoredType } from '../compiled-type.ts'
import type { WriteAnswer, WriteAnswers } from '../declare/stored.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import type { WriteRoute } from '../locate.ts'
import { linkOf, type Opening, openOperation } from '../operations.ts'
import type { OperationLink, Outcome } from '../plane.ts'

const byCommonRules: WriteAnswer = {}

export function answerOf(
  { stored }: Pick<CompiledStoredType, 'stored'>,
  effect: keyof WriteAnswers,
): WriteAnswer {
  return stored.protocol?.answers?.[effect] ?? byCommonRules
}

/** An operation that ended with the request, where answers of the type always lead to one. */
export async function endedOperation(
  deps: PlaneDependencies,
  tx: Tx,
  effect: keyof WriteAnswers,
  opening: Omit<Opening, 'isDone'> & { readonly compiled: CompiledStoredType },
): Promise<OperationLink | undefined> {
  const { compiled } = opening
  if (answerOf(compiled, effect).leadsTo !== 'operation') return undefined
  return linkOf(await openOperation(deps, tx, { ...opening, isDone: true }), compiled)
}

/** Only a write that created its resource has the common status 201. */
export function declaredWrite(route: WriteRoute, outcome: Outcome): Outcome {
  const { compiled } = route
  if (outcome.status !== 201) return declared(answerOf(compiled, 'changed'), outcome)
  const answer = answerOf(compiled, 'created')
  if (answer.leadsTo !== 'resource' || outcome.operation !== undefined) {
    return declared(answer, outcome)
  }
  const Location = `${route.id.text}?api-version=${encodeURIComponent(route.version)}`
  return declared(answer, { ...outcome, headers: { ...outcome.headers, Location } })
}

export function declaredDelete({ compiled }: WriteRoute, outcome: Outcome): Outcome {
  return outcome.status === 204 ? outcome : declared(answerOf(compiled, 'deleted'), outcome)
}

function declared({ status, body: instead }: WriteAnswer, outcome: Outcome): Outcome {
  if (status === undefined && instead === undefined) return outcome
  const { operation } = outcome
  const { body, ...others } = { ...outcome, status: status ?? outcome.status }
  if (instead === 'none') return others
  if (instead === undefined || operation === undefined) {
    return body === undefined ? others : { ...others, body }
  }
  return { ...others, body: { operation: instead.operation, startTime: operation.startTime } }
}
