/** A place for vectors of functions: parameters, variables, a loop, and resources that say what they were asked. */
import { ExpressionScope } from '../expression-scope.ts'
import type { ExpansionContext, Json } from '../plan.ts'
import { groupContext, subscriptionContext } from './context.ts'

const vendorA = {
  namespace: 'Vendor.A',
  resourceTypes: [{ resourceType: 'b', locations: ['local'], apiVersions: ['2026-01-01'] }],
}

export function contextOf(scope: ExpansionContext['scope'] = 'resourceGroup'): ExpansionContext {
  const change: Partial<ExpansionContext> = {
    now: Date.UTC(2026, 10, 21, 4, 5, 6, 789),
    zones: (_namespace, type) => (type === 'zoned' ? ['1', '2', '3'] : []),
    provider: (namespace) => (namespace === 'Vendor.A' ? vendorA : undefined),
    roleDefinition: (name) => (name === 'Reader' ? { id: `role ${name}` } : undefined),
  }
  if (scope === 'resourceGroup') return groupContext(change)
  if (scope === 'subscription') return { ...subscriptionContext(), ...change }
  const { subscription: _none, ...rest } = subscriptionContext()
  const managementGroup = { id: '/providers/Vendor.Management/managementGroups/mg', name: 'mg' }
  const own = scope === 'managementGroup' ? { managementGroup } : {}
  return { ...rest, ...change, ...own, scope }
}

export class AnsweringScope extends ExpressionScope {
  constructor(scope?: ExpansionContext['scope']) {
    super({
      context: contextOf(scope),
      parameters: { text: 'value', object: { name: { inner: 7 } } },
      variables: { list: ['a', 'b'] },
      externalInputs: { tool: { region: 'north' } },
      copyIndex: 3,
    })
  }

  override reference(target: string, apiVersion?: string, full?: boolean): Json {
    return { what: `${full === true ? 'full' : 'properties of'} ${target} ${apiVersion}` }
  }

  override target(full: boolean): Json {
    return full ? null : { what: 'properties' }
  }

  override references(symbolicName: string, full?: boolean): Json {
    return [`${full === true ? 'full' : 'properties of'} ${symbolicName}`]
  }

  override resourceInfo(symbolicName: string): Json {
    return { id: `info of ${symbolicName}` }
  }

  override list(action: string, target: string, apiVersion?: string, body?: Json): Json {
    return { keys: [`${action} ${target} ${apiVersion} ${JSON.stringify(body)}`] }
  }
}
