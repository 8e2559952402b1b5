/** Functions that ask for the place that is deployed to. A place that the deployment is not in is refused. */
import type { Json, JsonObject } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call, ValueFunction } from './define.ts'

const group = 'scope'

export const scopeFunctions: readonly ValueFunction[] = [
  {
    name: 'managementGroup',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'The management group that is deployed to.',
    apply: (_, call) => present(call.scope.context.managementGroup, call, 'a management group'),
  },
  {
    name: 'resourceGroup',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'The resource group that is deployed to.',
    apply: (_, call) => present(call.scope.context.resourceGroup, call, 'a resource group'),
  },
  {
    name: 'subscription',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'The subscription that is deployed to, or that the group is in.',
    apply: (_, call) => present(call.scope.context.subscription, call, 'a subscription'),
  },
  {
    name: 'tenant',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'The tenant of the deployment.',
    apply: (_, call) => call.scope.context.tenant,
  },
]

function present(value: JsonObject | undefined, call: Call, what: string): Json {
  if (value !== undefined) return value
  throw new EvaluationError(`${call.name}() is for deployments to ${what}`)
}
