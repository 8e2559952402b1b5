/**
 * The roles every installation has (facts 2.6), as data. Actions stand without the vendor word, which
 * `builtInRoles` puts in front once. Roles whose lists the facts give only in words are marked in README.md.
 */

import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { RoleDefinition } from '../resources/role-definitions/model.ts'

interface BuiltIn {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly actions: readonly string[]
  readonly notActions?: readonly string[]
  readonly dataActions?: readonly string[]
}

/** Read actions that every role for a single service includes, so that its holder can find things. */
const surroundings = [
  'Authorization/*/read',
  'Insights/alertRules/*',
  'ResourceHealth/availabilityStatuses/read',
  'Resources/deployments/*',
  'Resources/subscriptions/resourceGroups/read',
  'Support/*',
]

const blobs = 'Storage/storageAccounts/blobServices'

/** Everything, including the assignment of roles: the role of an installation's first account. */
export const ownerRoleId = '8e3af657-a8ff-443c-a75c-2fe8c4bcb635'

const table: readonly BuiltIn[] = [
  {
    id: ownerRoleId,
    name: 'Owner',
    description: 'Everything, including the assignment of roles.',
    actions: ['*'],
  },
  {
    id: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
    name: 'Contributor',
    description: 'Everything but the assignment of roles.',
    actions: ['*'],
    notActions: [
      'Authorization/*/Delete',
      'Authorization/*/Write',
      'Authorization/elevateAccess/Action',
      'Blueprint/blueprintAssignments/write',
      'Blueprint/blueprintAssignments/delete',
      'Compute/galleries/share/action',
      // Whoever changes principals can act as them.
      'Directory/*/write',
      'Directory/*/delete',
      'Directory/*/action',
      'Purview/consents/write',
      'Purview/consents/delete',
      'Resources/deploymentStacks/manageDenySetting/action',
      'Subscription/cancel/action',
      'Subscription/enable/action',
      // The same two actions under their names here, where they belong to the subscription.
      'Resources/subscriptions/cancel/action',
      'Resources/subscriptions/enable/action',
    ],
  },
  {
    id: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
    name: 'Reader',
    description: 'Reads everything, changes nothing.',
    actions: ['*/read'],
  },
  {
    id: '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9',
    name: 'User Access Administrator',
    description: 'Reads everything and manages who may do what.',
    actions: ['*/read', 'Authorization/*', 'Support/*'],
  },
  {
    id: 'f58310d9-a9f6-439a-9e8d-f62e7b41a168',
    name: 'Role Based Access Control Administrator',
    description: 'Reads everything and assigns roles.',
    actions: [
      'Authorization/roleAssignments/write',
      'Authorization/roleAssignments/delete',
      '*/read',
      'Support/*',
    ],
  },
  {
    id: 'fa23ad8b-c56e-40d8-ac0c-ce449e1d2c64',
    name: 'Billing Reader',
    description: 'Reads billing data.',
    actions: [
      'Authorization/*/read',
      'Billing/*/read',
      'Commerce/*/read',
      'Consumption/*/read',
      'Management/managementGroups/read',
      'CostManagement/*/read',
      'Support/*',
    ],
  },
  {
    // Our own: the facts list none of that name.
    id: '1b8f4c1e-52d3-4c0b-9a6e-3d6c5f0b7e21',
    name: 'Billing Contributor',
    description: 'Reads billing data, records, refunds, imports and invoices.',
    actions: ['Authorization/*/read', 'Billing/*', 'Support/*'],
  },
  {
    id: '72fafb9e-0641-4937-9268-a91bfd8191a3',
    name: 'Cost Management Reader',
    description: 'Reads cost data and its configuration.',
    actions: [
      'Consumption/*/read',
      'CostManagement/*/read',
      'Billing/billingPeriods/read',
      'Billing/billingProperty/read',
      'Resources/subscriptions/read',
      'Resources/subscriptions/resourceGroups/read',
      'Management/managementGroups/read',
      'Support/*',
    ],
  },
  {
    id: '434105ed-43f6-45c7-a02f-909b2ba83430',
    name: 'Cost Management Contributor',
    description: 'Reads cost data and manages its configuration.',
    actions: [
      'Consumption/*',
      'CostManagement/*',
      'Billing/billingPeriods/read',
      'Billing/billingProperty/read',
      'Resources/subscriptions/read',
      'Resources/subscriptions/resourceGroups/read',
      'Management/managementGroups/read',
      'Support/*',
    ],
  },
  {
    id: '5d977122-f97e-4b4d-a52f-6b43003ddb4d',
    name: 'Container Instances Contributor',
    description: 'Manages container groups.',
    actions: ['ContainerInstance/containerGroups/*', ...surroundings],
  },
  {
    id: '312a565d-c81f-4fd8-895a-4e21e48d571c',
    name: 'API Management Service Contributor',
    description: 'Manages API services and their APIs.',
    actions: ['ApiManagement/service/*', ...surroundings],
  },
  {
    id: 'e022efe7-f5ba-4159-bbe4-b44f577e9b61',
    name: 'API Management Service Operator',
    description: 'Runs API services, but does not see their APIs.',
    actions: [
      'ApiManagement/service/*/read',
      'ApiManagement/service/backup/action',
      'ApiManagement/service/delete',
      'ApiManagement/service/managedeployments/action',
      'ApiManagement/service/read',
      'ApiManagement/service/restore/action',
      'ApiManagement/service/updatehostname/action',
      'ApiManagement/service/write',
      ...surroundings,
    ],
    notActions: ['ApiManagement/service/users/keys/read'],
  },
  {
    id: '71522526-b88f-4d52-b57f-d31fc3546d0d',
    name: 'API Management Service Reader',
    description: 'Reads API services and their APIs.',
    actions: ['ApiManagement/service/*/read', 'ApiManagement/service/read', ...surroundings],
    notActions: ['ApiManagement/service/users/keys/read'],
  },
  {
    id: 'f1a07417-d97a-45cb-824c-7a7467783830',
    name: 'Managed Identity Operator',
    description: 'Reads and assigns managed identities.',
    actions: [
      'ManagedIdentity/userAssignedIdentities/*/read',
      'ManagedIdentity/userAssignedIdentities/read',
      'ManagedIdentity/userAssignedIdentities/*/assign/action',
      'ManagedIdentity/userAssignedIdentities/assign/action',
      ...surroundings,
    ],
  },
  {
    id: 'e40ec5ca-96e0-45a2-b4ff-59039f2c2b59',
    name: 'Managed Identity Contributor',
    description: 'Creates, reads, changes and deletes managed identities.',
    actions: [
      'ManagedIdentity/userAssignedIdentities/*/read',
      'ManagedIdentity/userAssignedIdentities/read',
      'ManagedIdentity/userAssignedIdentities/*/write',
      'ManagedIdentity/userAssignedIdentities/write',
      'ManagedIdentity/userAssignedIdentities/*/delete',
      'ManagedIdentity/userAssignedIdentities/delete',
      ...surroundings,
    ],
  },
  {
    id: '43d0d8ad-25c7-4714-9337-8ba259a9fe05',
    name: 'Monitoring Reader',
    description: 'Reads everything, monitoring data included.',
    actions: ['*/read', 'OperationalInsights/workspaces/search/action', 'Support/*'],
  },
  {
    id: '39bc4728-0917-49c7-9d2c-d95423bc2eb4',
    name: 'Security Reader',
    description: 'Reads security findings, policies and states.',
    actions: [
      'Authorization/*/read',
      'Insights/alertRules/read',
      'Resources/deployments/*/read',
      'Resources/subscriptions/resourceGroups/read',
      'Security/*/read',
      'Support/*/read',
      'Management/managementGroups/read',
    ],
  },
  {
    id: 'a8889054-8d42-49c9-bc1c-52486c10e7cd',
    name: 'Reservations Administrator',
    description: 'Reads and manages all reservations.',
    actions: [
      'Capacity/*',
      'Authorization/roleAssignments/read',
      'Authorization/roleDefinitions/read',
    ],
  },
  {
    id: '4a9ae827-6dc8-4573-8ac7-8239d42aa03f',
    name: 'Tag Contributor',
    description: 'Manages tags without access to the tagged.',
    actions: [
      'Authorization/*/read',
      'Resources/subscriptions/resourceGroups/read',
      'Resources/subscriptions/resourceGroups/resources/read',
      'Resources/subscriptions/resources/read',
      'Resources/tags/*',
      'Support/*',
    ],
  },
  {
    id: '9980e02c-c2be-4d73-94e8-173b1dc7cf3c',
    name: 'Virtual Machine Contributor',
    description: 'Manages virtual machines, but not who may reach them.',
    actions: [
      'Compute/availabilitySets/*',
      'Compute/disks/read',
      'Compute/disks/write',
      'Compute/disks/delete',
      'Compute/locations/*',
      'Compute/virtualMachines/*',
      'Compute/virtualMachineScaleSets/*',
      'Network/networkInterfaces/*',
      'Network/virtualNetworks/read',
      'Network/virtualNetworks/subnets/join/action',
      ...surroundings,
    ],
  },
  {
    id: '4d97b98b-1d4f-4787-a291-c67834d212e7',
    name: 'Network Contributor',
    description: 'Manages networks, but not who may reach them.',
    actions: ['Network/*', ...surroundings],
  },
  {
    id: '92aaf0da-9dab-42b6-94a3-d43ce8d16293',
    name: 'Log Analytics Contributor',
    description: 'Reads all monitoring data and manages its settings.',
    actions: [
      '*/read',
      'Insights/alertRules/*',
      'Insights/diagnosticSettings/*',
      'OperationalInsights/*',
      'OperationsManagement/*',
      'Resources/deployments/*',
      'Resources/subscriptions/resourcegroups/deployments/*',
      'Support/*',
    ],
  },
  {
    id: '7f951dda-4ed3-4680-a7ca-43fe172d538d',
    name: 'Registry Pull',
    description: 'Pulls images from a container registry.',
    actions: ['ContainerRegistry/registries/pull/read'],
  },
  {
    id: '00482a5a-887f-4fb3-b363-3b7fe8e74483',
    name: 'Key Vault Administrator',
    description: 'Does everything with what vaults hold, and nothing with the vaults themselves.',
    actions: [...surroundings, 'KeyVault/vaults/*/read', 'KeyVault/checkNameAvailability/read'],
    // The vaults here have a namespace of their own.
    dataActions: ['KeyVault/vaults/*', 'Secrets/vaults/*'],
  },
  {
    id: '4633458b-17de-408a-b874-0445c86b69e6',
    name: 'Key Vault Secrets User',
    description: 'Uses the values of secrets.',
    actions: [],
    dataActions: [
      'KeyVault/vaults/secrets/getSecret/action',
      'KeyVault/vaults/secrets/readMetadata/action',
      'Secrets/vaults/secrets/getValue/action',
    ],
  },
  {
    id: '17d1049b-9a84-46fb-8f53-869881c3d3ab',
    name: 'Storage Account Contributor',
    description: 'Manages storage accounts, their keys included.',
    actions: [...surroundings, 'Insights/diagnosticSettings/*', 'Storage/storageAccounts/*'],
  },
  {
    id: '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1',
    name: 'Storage Blob Data Reader',
    description: 'Reads blobs and their containers.',
    actions: [`${blobs}/containers/read`, `${blobs}/generateUserDelegationKey/action`],
    dataActions: [`${blobs}/containers/blobs/read`],
  },
  {
    id: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe',
    name: 'Storage Blob Data Contributor',
    description: 'Reads, writes and deletes blobs and their containers.',
    actions: [
      `${blobs}/containers/read`,
      `${blobs}/containers/write`,
      `${blobs}/containers/delete`,
      `${blobs}/generateUserDelegationKey/action`,
    ],
    dataActions: [
      `${blobs}/containers/blobs/read`,
      `${blobs}/containers/blobs/write`,
      `${blobs}/containers/blobs/delete`,
      `${blobs}/containers/blobs/move/action`,
      `${blobs}/containers/blobs/add/action`,
    ],
  },
  {
    id: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b',
    name: 'Storage Blob Data Owner',
    description: 'Does everything with blobs and their containers.',
    actions: [`${blobs}/containers/*`, `${blobs}/generateUserDelegationKey/action`],
    dataActions: [`${blobs}/containers/blobs/*`],
  },
]

/** The built-in roles by id (lower-case GUID), in listing order. */
export type BuiltInRoles = ReadonlyMap<string, RoleDefinition>

export function builtInRoles(words: VendorWords): BuiltInRoles {
  const spell = (actions: readonly string[] | undefined): readonly string[] =>
    (actions ?? []).map((action) => qualify(words, action))
  return new Map(
    table.map((role) => [
      role.id,
      {
        roleName: role.name,
        description: role.description,
        kind: 'BuiltInRole',
        assignableScopes: ['/'],
        permissions: [
          {
            actions: spell(role.actions),
            notActions: spell(role.notActions),
            dataActions: spell(role.dataActions),
            notDataActions: [],
          },
        ],
      },
    ]),
  )
}

/** Role ids by name in lower case, as templates write them. */
export function builtInRoleIds(words: VendorWords): Readonly<Record<string, string>> {
  const path = `/providers/${qualify(words, 'Authorization/roleDefinitions')}`
  return Object.fromEntries(table.map(({ name, id }) => [name.toLowerCase(), `${path}/${id}`]))
}
