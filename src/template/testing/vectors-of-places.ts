/** What functions of the deployment, its place and its resources give and refuse. */
import { groupId, subscriptionId } from './context.ts'
import type { Vectors } from './vectors.ts'

const other = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'
const management = '/providers/Vendor.Management/managementGroups/mg'

export const deploymentVectors: Vectors = {
  deployer: [['deployer().objectId', 'someone']],
  deployment: [
    ['deployment().name', 'd'],
    ['deployment().location', 'local', 'subscription'],
    ['deployment().location', /no property 'location'/],
    ['deployment().properties.mode', 'Incremental'],
  ],
  externalInputs: [
    ["externalInputs('tool').region", 'north'],
    ["externalInputs('TOOL').region", 'north'],
    ["externalInputs('other')", /no external input 'other'/],
    ['externalInputs(1)', /first argument/],
  ],
  environment: [['environment().resourceManager', 'http://armature.example/']],
  parameters: [
    ["parameters('text')", 'value'],
    ["Parameters('TEXT')", 'value'],
    ["parameters('object').Name.INNER", 7],
    ["parameters('none')", /no parameter 'none'/],
    ["parameters('__proto__')", /no parameter/],
    ['parameters(1)', /a string/],
  ],
  variables: [
    ["variables('list')[1]", 'b'],
    ["VARIABLES('List')[0]", 'a'],
    ["variables('none')", /no variable/],
  ],
}

export const scopeVectors: Vectors = {
  managementGroup: [
    ['managementGroup().name', 'mg', 'managementGroup'],
    ['managementGroup()', /deployments to a management group/],
  ],
  resourceGroup: [
    ['resourceGroup().id', groupId],
    ['resourceGroup().Location', 'local'],
    ['resourceGroup()', /deployments to a resource group/, 'subscription'],
  ],
  subscription: [
    ['subscription().subscriptionId', subscriptionId],
    ['subscription().displayName', 'one', 'subscription'],
    ['subscription()', /deployments to a subscription/, 'tenant'],
  ],
  tenant: [['tenant().tenantId', 'tenant', 'tenant']],
}

export const resourceVectors: Vectors = {
  extensionResourceId: [
    [
      "extensionResourceId(resourceGroup().id, 'Vendor.Authorization/locks', 'l')",
      `${groupId}/providers/Vendor.Authorization/locks/l`,
    ],
    [
      "extensionResourceId(resourceId('Vendor.A/b', 'n'), 'Vendor.C/d/e', 'x', 'y')",
      `${groupId}/providers/Vendor.A/b/n/providers/Vendor.C/d/x/e/y`,
    ],
    [
      "extensionResourceId(resourceId('Vendor.A/b/', 'n'), 'Vendor.C/d/', 'x')",
      `${groupId}/providers/Vendor.A/b/n/providers/Vendor.C/d/x`,
    ],
    ["extensionResourceId('/x', 'Vendor.C/d/e', 'x')", /needs 2 names; .* got 1/],
  ],
  'list*': [
    ["listKeys('store', '2021-01-01').keys[0]", 'listKeys store 2021-01-01 undefined'],
    ["LISTSecrets('/a/b', '1', createObject('x', 1)).keys", ['LISTSecrets /a/b 1 {"x":1}']],
    ['listKeys(1, 2)', /first argument/],
  ],
  managementGroupResourceId: [
    [
      "managementGroupResourceId('Vendor.A/b', 'n')",
      `${management}/providers/Vendor.A/b/n`,
      'managementGroup',
    ],
    ["managementGroupResourceId('mg', 'Vendor.A/b', 'n')", `${management}/providers/Vendor.A/b/n`],
    ["managementGroupResourceId('Vendor.A/b', 'n')", /deployments to a management group/],
  ],
  pickZones: [
    ["pickZones('Vendor.A', 'zoned', 'local')", ['1']],
    ["pickZones('Vendor.A', 'zoned', 'local', 2, 1)", ['2', '3']],
    ["pickZones('Vendor.A', 'plain', 'local')", []],
    ["pickZones('Vendor.A', 'zoned', 'local', 3, 1)", /has 3 zones/],
    ["pickZones('Vendor.A', 'zoned', 'local', 0)", /at least one zone/],
  ],
  providers: [
    ["providers('Vendor.A', 'B').apiVersions", ['2026-01-01']],
    ["providers('Vendor.A').namespace", 'Vendor.A'],
    ["providers('Vendor.A', 'c')", /no type 'c'/],
    ["providers('Vendor.X')", /no provider/],
  ],
  reference: [
    ["reference('store').what", 'properties of store undefined'],
    ["reference('store', '2021-01-01').what", 'properties of store 2021-01-01'],
    ["reference('store', null(), 'full').what", 'full store undefined'],
    ["reference('store', '2021-01-01', 'Half')", /'Full' or 'Properties'/],
    ['reference(null())', /a string/],
  ],
  references: [
    ["references('loop')", ['properties of loop']],
    ["references('loop', 'Full')", ['full loop']],
    ["references('loop', 'x')", /'Full' or 'Properties'/],
  ],
  target: [
    ['target().what', 'properties'],
    ["not(empty(target('full')))", false],
    ["coalesce(tryGet(target('Full'), 'properties', 'tier'), 'Hot')", 'Hot'],
    ["target('x')", /'Full' or 'Properties'/],
  ],
  resourceId: [
    ["resourceId('Vendor.A/b', 'n')", `${groupId}/providers/Vendor.A/b/n`],
    ["resourceId('Vendor.A/b/c', 'n', 'm')", `${groupId}/providers/Vendor.A/b/n/c/m`],
    [
      "resourceId('other', 'Vendor.A/b', 'n')",
      `/subscriptions/${subscriptionId}/resourceGroups/other/providers/Vendor.A/b/n`,
    ],
    [
      `resourceId('${other}', 'other', 'Vendor.A/b', 'n')`,
      `/subscriptions/${other}/resourceGroups/other/providers/Vendor.A/b/n`,
    ],
    [
      `resourceId('${other}', 'Vendor.A/b', 'n')`,
      `/subscriptions/${other}/resourceGroups/rg/providers/Vendor.A/b/n`,
    ],
    [
      "resourceId('Vendor.A/b', 'n')",
      `/subscriptions/${subscriptionId}/providers/Vendor.A/b/n`,
      'subscription',
    ],
    [
      `resourceId('${other}', 'Vendor.A/b', 'n')`,
      `/subscriptions/${other}/providers/Vendor.A/b/n`,
      'subscription',
    ],
    ["resourceId('Vendor.A/b', 'n')", '/providers/Vendor.A/b/n', 'tenant'],
    ["resourceId('Vendor.A/b', 'n')", '/providers/Vendor.A/b/n', 'managementGroup'],
    ["resourceId('Vendor.A/b/', 'n')", `${groupId}/providers/Vendor.A/b/n`],
    ["resourceId('Vendor.A/b/c/', 'n', 'm')", `${groupId}/providers/Vendor.A/b/n/c/m`],
    ["resourceId('Vendor.A/b//', 'n')", /expects a type with its namespace/],
    ["resourceId('Vendor.A/', 'n')", /expects a type with its namespace/],
    ["resourceId('Vendor.A/b', 'n', 'm')", /needs 1 names; resourceId\(\) got 2/],
    ["resourceId('b', 'n')", /expects a type with its namespace/],
    ["resourceId('a', 'b', 'c', 'Vendor.A/b', 'n')", /expects a type/],
    ["resourceId('Vendor.A/b', 1)", /second argument/],
  ],
  resourceInfo: [["resourceInfo('store').id", 'info of store']],
  roleDefinitions: [
    ["roleDefinitions('Reader').id", 'role Reader'],
    ["roleDefinitions('None')", /no built-in role/],
  ],
  subscriptionResourceId: [
    [
      "subscriptionResourceId('Vendor.A/b', 'n')",
      `/subscriptions/${subscriptionId}/providers/Vendor.A/b/n`,
    ],
    [
      `subscriptionResourceId('${other}', 'Vendor.A/b', 'n')`,
      `/subscriptions/${other}/providers/Vendor.A/b/n`,
      'tenant',
    ],
    [
      "subscriptionResourceId('Vendor.A/b/', 'n')",
      `/subscriptions/${subscriptionId}/providers/Vendor.A/b/n`,
    ],
    ["subscriptionResourceId('Vendor.A/b', 'n')", /deployments to a subscription/, 'tenant'],
  ],
  tenantResourceId: [
    ["tenantResourceId('Vendor.A/b/c', 'n', 'm')", '/providers/Vendor.A/b/n/c/m'],
    ["tenantResourceId('Vendor.A/b/', 'n')", '/providers/Vendor.A/b/n'],
    ["tenantResourceId('Vendor.A', 'n')", /expects a type/],
  ],
  toLogicalZone: [
    ["toLogicalZone(subscription().subscriptionId, 'West US 2', 'westus2-az2')", '2'],
    ["toLogicalZone(subscription().subscriptionId, 'westus2', 'eastus-az2')", ''],
    ["toLogicalZone('s', 'westus2', 1)", /third argument/],
  ],
  toLogicalZones: [
    ["toLogicalZones('s', 'l', createArray('l-az1', 'l-az3'))", ['1', '3']],
    ["toLogicalZones('s', 'l', createArray(1))", /a string/],
  ],
  toPhysicalZone: [
    ["toPhysicalZone('s', 'westus2', '1')", 'westus2-az1'],
    ["toPhysicalZone('s', 'westus2', 'x')", ''],
  ],
  toPhysicalZones: [
    ["toPhysicalZones('s', 'l', createArray('1', '2'))", ['l-az1', 'l-az2']],
    ["toPhysicalZones('s', 'l', 'x')", /an array/],
  ],
}
