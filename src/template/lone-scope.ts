/**
 * A scope for expressions that read nothing of the deployment: neither parameters and variables, nor its place or the
 * time. All that are evaluated in one such scope have one budget.
 */
import { evaluate } from './evaluate.ts'
import { EvaluationQuota } from './evaluation-quota.ts'
import type { Expression } from './expression.ts'
import { ExpressionScope } from './expression-scope.ts'
import type { JsonObject } from './plan.ts'
import { tryEvaluate } from './try-evaluate.ts'

export class LoneScope extends ExpressionScope {
  readonly quota = new EvaluationQuota()
  readonly expansion: Parameters<typeof tryEvaluate>[0]['expansion'] = {
    notes: { isSecure: false, needs: undefined },
  }

  constructor(externalInputs: JsonObject = {}) {
    super({ externalInputs })
  }

  try(expression: Expression): ReturnType<typeof tryEvaluate> {
    return tryEvaluate(this, () => evaluate(expression, this))
  }
}
