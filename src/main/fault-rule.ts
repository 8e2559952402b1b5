/** Which members a fault rule may have, over HTTP as in a test's own process. */

import { Type } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { checkSchema } from '#plane/check.ts'
import type { FaultRule } from '../control/faults.ts'

const some = Type.String({ minLength: 1, maxLength: 2048 })
export const faultRuleBody = Type.Object(
  {
    method: Type.Optional(Type.String({ pattern: '^[A-Za-z]{3,7}$' })),
    path: Type.Optional(some),
    type: Type.Optional(some),
    principal: Type.Optional(some),
    rate: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    after: Type.Optional(Type.Integer({ minimum: 0 })),
    seconds: Type.Optional(Type.Number({ minimum: 0 })),
    status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
    code: Type.Optional(some),
    retryAfter: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
    latency: Type.Optional(Type.Integer({ minimum: 0, maximum: 300_000 })),
    cut: Type.Optional(Type.Boolean()),
    token: Type.Optional(Type.Literal('refused')),
    step: Type.Optional(Type.Union([Type.Literal('fail'), Type.Literal('hang')])),
    store: Type.Optional(Type.Union([Type.Literal('away'), Type.Literal('slow')])),
    engine: Type.Optional(Type.Literal('loses')),
  },
  { additionalProperties: false },
)

/** One of these says what happens. */
const effects = ['status', 'latency', 'cut', 'token', 'step', 'store', 'engine'] as const

/** Throws when it is none. */
export function readFaultRule(rule: unknown): FaultRule {
  checkSchema(faultRuleBody, 'refuse', rule)
  // The schema is that of a rule.
  return withEffect(rule as FaultRule)
}

/** Throws for a rule by which nothing happens: most likely a word is mistyped. */
export function withEffect(rule: FaultRule): FaultRule {
  if (effects.some((name) => rule[name] !== undefined)) return rule
  throw refuse.BadRequest({
    reason: `nothing happens by this rule: it needs one of ${effects.join(', ')}`,
  })
}
