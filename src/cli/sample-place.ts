/** A sample scope for trying out expressions: its names come from the command line, and no server is used. */

import { randomUUID } from 'node:crypto'
import { systemTiming } from '#client/timing.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { environmentOf } from '#template/environment.ts'
import type { ExpansionContext, JsonObject } from '#template/plan.ts'
import { offerWith } from '#template/unserved-offer.ts'
import { zonesOf } from '#template/zones.ts'

const sampleSubscription = '11111111-1111-4111-8111-111111111111'
const sampleTenant = '00000000-0000-4000-8000-000000000001'

export const sampleOptions = {
  scope: {
    type: 'string',
    value: 'scope',
    choices: ['resourceGroup', 'subscription', 'managementGroup', 'tenant'],
    summary: 'What is deployed to; a resource group when left out',
  },
  'resource-group': {
    type: 'string',
    short: 'g',
    value: 'name',
    summary: 'What resourceGroup() is called; `demo` when left out',
  },
  subscription: {
    type: 'string',
    value: 'id',
    summary: 'What subscription() is; a made-up one when left out',
  },
  location: {
    type: 'string',
    value: 'name',
    summary: 'Where it is deployed; `local` when left out',
  },
} as const

export interface SampleValues {
  readonly scope: string | undefined
  readonly 'resource-group': string | undefined
  readonly subscription: string | undefined
  readonly location: string | undefined
}

export function samplePlace(values: SampleValues, words: VendorWords): ExpansionContext {
  const { location = 'local', subscription: subscriptionId = sampleSubscription } = values
  const group = values['resource-group'] ?? 'demo'
  const scope = scopeOf(values.scope)
  const id = `/subscriptions/${subscriptionId}`
  const subscription: JsonObject = {
    id,
    subscriptionId,
    tenantId: sampleTenant,
    displayName: 'Sample',
  }
  const resourceGroup: JsonObject = {
    id: `${id}/resourceGroups/${group}`,
    name: group,
    type: `${words.namespace}.Resources/resourceGroups`,
    location,
    tags: {},
    properties: { provisioningState: 'Succeeded' },
  }
  const managementGroup: JsonObject = {
    id: `/providers/${words.namespace}.Management/managementGroups/sample`,
    name: 'sample',
    type: `${words.namespace}.Management/managementGroups`,
    properties: { displayName: 'sample', tenantId: sampleTenant },
  }
  return {
    scope,
    tenant: {
      id: `/tenants/${sampleTenant}`,
      tenantId: sampleTenant,
      displayName: 'sample',
      countryCode: '',
    },
    ...(scope === 'resourceGroup' || scope === 'subscription' ? { subscription } : {}),
    ...(scope === 'resourceGroup' ? { resourceGroup } : {}),
    ...(scope === 'managementGroup' ? { managementGroup } : {}),
    deploymentName: 'sample',
    location,
    deployer: { objectId: sampleTenant, tenantId: sampleTenant, userPrincipalName: 'sample' },
    environment: environmentOf({
      name: words.brand,
      url: 'https://sample.example',
      tenantId: sampleTenant,
    }),
    now: systemTiming.now(),
    uuid: randomUUID,
    zones: zonesOf,
    provider: (namespace, type) => offerWith(undefined, namespace, type),
    roleDefinition: () => ({
      id: `/providers/${words.namespace}.Authorization/roleDefinitions/${sampleTenant}`,
      roleDefinitionId: sampleTenant,
    }),
  }
}

function scopeOf(word: string | undefined): ExpansionContext['scope'] {
  if (word === 'subscription' || word === 'managementGroup' || word === 'tenant') return word
  return 'resourceGroup'
}
