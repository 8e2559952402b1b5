/**
 * Firewall rules are stored as written and have no effect. The operator of a registered server controls access to
 * it, and this process does not know those rules.
 */

import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { types } from '../../dependencies.ts'
import { acceptedAs } from '../../domain/accepted.ts'
import type { FirewallRule } from './model.ts'
import { firewallRule } from './versions/2025-08-01.ts'

export function firewallRules(): ResourceType {
  const range = (endIpAddress: string) => ({
    properties: { startIpAddress: '10.0.0.1', endIpAddress },
  })
  return defineStored<FirewallRule>({
    type: types.firewallRules,
    description: 'Addresses that a server is meant for. Kept, and not carried out.',
    scope: 'resource-group',
    name: { pattern: /^[\w-]{3,128}$/, rule: '3 to 128 letters, digits, hyphens and underscores' },
    movable: true,
    versions: [firewallRule],
    protocol: {
      answers: acceptedAs(
        'UpsertServerFirewallRulesManagementOperation',
        'DropServerFirewallRulesManagementOperation',
      ),
    },
    sample: {
      name: (seed) => `rule-${seed}`,
      body: () => range('10.0.0.9'),
      changed: () => range('10.0.0.99'),
    },
  })
}
