/** Functions that read the deployment: its parameters, variables, caller and scope. */
import { EvaluationError } from '../scope.ts'
import type { ValueFunction } from './define.ts'
import { textAt } from './values.ts'

const group = 'deployment'

export const deploymentFunctions: readonly ValueFunction[] = [
  {
    name: 'deployer',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'Who deploys: objectId, tenantId and userPrincipalName.',
    apply: (_, { scope }) => scope.context.deployer,
  },
  {
    name: 'deployment',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'The deployment itself: its name, its properties and, outside of groups, its location.',
    apply: (_, { scope }) => scope.deployment(),
  },
  {
    name: 'environment',
    group,
    parameters: '',
    least: 0,
    most: 0,
    doc: 'The endpoints of this installation.',
    apply: (_, { scope }) => scope.context.environment,
  },
  {
    name: 'externalInputs',
    group,
    parameters: 'name',
    least: 1,
    most: 1,
    doc: 'The value of an external input; only in the expressions of a parameter file.',
    apply(values, call) {
      const name = textAt(values, 0, call)
      if (call.scope.externalInput !== undefined) return call.scope.externalInput(name)
      throw new EvaluationError(`${call.name}() is for the expressions of a parameter file`)
    },
  },
  {
    name: 'parameters',
    group,
    parameters: 'name',
    least: 1,
    most: 1,
    doc: 'The value of a parameter.',
    apply: (values, call) => call.scope.parameter(textAt(values, 0, call)),
  },
  {
    name: 'variables',
    group,
    parameters: 'name',
    least: 1,
    most: 1,
    doc: 'The value of a variable.',
    apply: (values, call) => call.scope.variable(textAt(values, 0, call)),
  },
]
