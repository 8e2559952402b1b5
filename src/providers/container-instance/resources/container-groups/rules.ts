/**
 * Rules of container groups that the schema cannot express (facts 4.5 to 4.7). Every problem is reported at once,
 * with its path; nothing that the contract allows is refused. They only read, inside the transaction.
 */

import {
  ipAddressProblem,
  resolverOptionProblem,
  searchDomainProblem,
} from '#engines/containers/safe-text.ts'
import type { Problem } from '#kernel/error.ts'
import type { Seal } from '#kernel/ports.ts'
import { nameOf, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import { groupStateOf } from '../../domain/groups/group-state.ts'
import type { AllowedRegistries } from '../../domain/groups/image-policy.ts'
import type { Observed } from '../../domain/groups/observation.ts'
import { splitWords } from '../../domain/groups/spec.ts'
import type { ContainerLimits } from '../../domain/limits.ts'
import { problemOf } from '../../errors.ts'
import type { ContainerGroup } from './model.ts'
import { containerProblems } from './rules/containers.ts'
import { portProblems } from './rules/ports.ts'
import { volumeProblems } from './rules/volumes.ts'
import type { GroupProperties } from './versions/shapes.ts'
import { words as known } from './versions/words.ts'

export interface RuleDependencies {
  readonly limits: ContainerLimits
  readonly seal: Seal
  readonly allowedRegistries: AllowedRegistries
}

export async function containerGroupRules(
  context: RuleContext<ContainerGroup>,
  deps: RuleDependencies,
): Promise<readonly Problem[]> {
  const { desired, previous } = context
  const problems = [...bodyProblems(desired, deps)]
  if (previous !== undefined) {
    const current = await context.reader.get(context.id)
    if (!isOver(current)) problems.push(...updateProblems(nameOf(context.id), desired, previous))
  } else if (problems.length === 0) problems.push(...(await quotaProblems(context, deps.limits)))
  return problems
}

/** The rules that do not need the store. */
export function bodyProblems(
  group: ContainerGroup,
  { limits, seal, allowedRegistries }: RuleDependencies,
): readonly Problem[] {
  return [
    ...choiceProblems(group.properties),
    ...identityProblems(group),
    ...containerProblems(group, limits, { seal, allowedRegistries }),
    ...volumeProblems(group, limits, seal),
    ...addressProblems(group.properties, limits),
    ...spotProblems(group.properties),
    ...referenceProblems(group.properties),
  ]
}

function choiceProblems(properties: GroupProperties): readonly Problem[] {
  const { osType = '', sku = '', restartPolicy = '', priority = '', dnsConfig } = properties
  const problems: Problem[] = []
  const check = (
    code: Parameters<typeof problemOf>[0],
    name: string,
    value: string,
    all: readonly string[],
  ): void => {
    if (all.includes(value)) return
    const expected = `expected ${all.join(', ')}`
    problems.push(problemOf(code, `properties.${name}`, { value, expected }))
  }
  check('InvalidOsType', 'osType', osType, known.osType)
  check('InvalidSku', 'sku', sku, known.sku)
  check('InvalidRestartPolicy', 'restartPolicy', restartPolicy, known.restartPolicy)
  check('PriorityNotSpecified', 'priority', priority, known.priority)
  return [...problems, ...dnsProblems(dnsConfig)]
}

const resolverWordsMax = 32

function dnsProblems(dnsConfig: GroupProperties['dnsConfig']): readonly Problem[] {
  if (dnsConfig === undefined) return []
  const problems: Problem[] = []
  const check = (
    path: string,
    values: readonly string[],
    problem: (value: string) => string | undefined,
  ): void => {
    for (const value of values.slice(0, resolverWordsMax)) {
      const reason = problem(value)
      if (reason === undefined) continue
      problems.push(
        problemOf('InvalidDnsConfig', `properties.dnsConfig.${path}`, { value, reason }),
      )
    }
    if (values.length <= resolverWordsMax) return
    const reason = `at most ${resolverWordsMax}`
    const value = String(values.length)
    problems.push(problemOf('InvalidDnsConfig', `properties.dnsConfig.${path}`, { value, reason }))
  }
  for (const [at, value] of dnsConfig.nameServers.entries()) {
    check(`nameServers[${at}]`, [value], ipAddressProblem)
  }
  check('searchDomains', splitWords(dnsConfig.searchDomains), searchDomainProblem)
  check('options', splitWords(dnsConfig.options), resolverOptionProblem)
  return problems
}

const identityKinds = ['SystemAssigned', 'UserAssigned']

function identityProblems({ identity, properties }: ContainerGroup): readonly Problem[] {
  const problems: Problem[] = []
  if (identity !== undefined) {
    const kinds = identity.type.split(',').map((kind) => kind.trim())
    const known = identity.type === 'None' || kinds.every((kind) => identityKinds.includes(kind))
    if (!known) {
      const reason = `the type '${identity.type}' is not None, SystemAssigned, UserAssigned or both of these`
      problems.push(problemOf('InvalidIdentity', 'identity.type', { reason }))
    }
  }
  const { defaultAccess, acls = [] } = properties.identityAcls ?? {}
  const accesses = [
    ['properties.identityAcls.defaultAccess', defaultAccess],
    ...acls.map(({ access }, at) => [`properties.identityAcls.acls[${at}].access`, access]),
  ] as const
  for (const [path = '', value] of accesses) {
    if (value !== undefined && !['All', 'System', 'User'].includes(value)) {
      problems.push(problemOf('InvalidIdentityAcls', path, { value }))
    }
  }
  return problems
}

function addressProblems(
  { ipAddress }: GroupProperties,
  limits: ContainerLimits,
): readonly Problem[] {
  if (ipAddress === undefined) return []
  const problems: Problem[] = []
  const { type, ports, dnsNameLabel: label, autoGeneratedDomainNameLabelScope } = ipAddress
  const path = 'properties.ipAddress'
  const addressTypes: readonly string[] = known.addressType
  if (!addressTypes.includes(type)) {
    problems.push(problemOf('InvalidIpAddressType', `${path}.type`, { value: type }))
  }
  if (ports.length > limits.portsPerAddressMax) {
    problems.push(problemOf('TooManyPorts', `${path}.ports`, { limit: limits.portsPerAddressMax }))
  }
  problems.push(...portProblems(ports, `${path}.ports`, new Set()))
  if (label !== undefined && !/^[a-z](?:[a-z0-9-]{3,61})[a-z0-9]$/.test(label)) {
    problems.push(problemOf('InvalidDnsNameLabel', `${path}.dnsNameLabel`, { label }))
  }
  const scope = autoGeneratedDomainNameLabelScope
  const labelScopes: readonly string[] = known.labelScope
  if (scope !== undefined && !labelScopes.includes(scope)) {
    problems.push(
      problemOf('InvalidDomainNameLabelScope', `${path}.autoGeneratedDomainNameLabelScope`, {
        value: scope,
        expected: `expected ${labelScopes.join(', ')}`,
      }),
    )
  }
  return problems
}

function spotProblems(properties: GroupProperties): readonly Problem[] {
  if (properties.priority !== 'Spot') return []
  const problems: Problem[] = []
  const { sku = '', ipAddress, containers } = properties
  if (
    ipAddress !== undefined ||
    containers.some((one) => (one.properties?.ports ?? []).length > 0)
  ) {
    problems.push(
      problemOf(
        'SpotPriorityContainerGroupNotSupportedForInboundConnectivity',
        'properties.priority',
      ),
    )
  }
  if (!['Standard', 'NotSpecified'].includes(sku)) {
    problems.push(
      problemOf('SpotPriorityContainerGroupNotSupportedInSku', 'properties.sku', { value: sku }),
    )
  }
  if (containers.some((one) => (one.properties?.resources?.requests?.gpu?.count ?? 0) > 0)) {
    problems.push(
      problemOf('SpotPriorityContainerGroupWithGPUResourcesNotSupported', 'properties.priority'),
    )
  }
  return problems
}

/** The references to `secretReferences` from anywhere. */
function referenceProblems(properties: GroupProperties): readonly Problem[] {
  const problems: Problem[] = []
  const names = new Set<string>()
  for (const [at, { name, secretReferenceUri }] of (properties.secretReferences ?? []).entries()) {
    const path = `properties.secretReferences[${at}]`
    if (names.has(name)) {
      const reason = 'the name is given twice'
      problems.push(problemOf('InvalidSecretReference', `${path}.name`, { name, reason }))
    }
    names.add(name)
    if (!URL.canParse(secretReferenceUri)) {
      const reason = 'secretReferenceUri is no URI'
      problems.push(
        problemOf('InvalidSecretReference', `${path}.secretReferenceUri`, { name, reason }),
      )
    }
  }
  const wanted = (path: string, name: string | undefined): void => {
    if (name !== undefined && !names.has(name)) {
      problems.push(problemOf('SecretReferenceNotFound', path, { name }))
    }
  }
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [at, one] of (properties[list] ?? []).entries()) {
      for (const [index, variable] of (one.properties?.environmentVariables ?? []).entries()) {
        wanted(
          `properties.${list}[${at}].properties.environmentVariables[${index}].secureValueReference`,
          variable.secureValueReference,
        )
      }
    }
  }
  for (const [at, one] of (properties.imageRegistryCredentials ?? []).entries()) {
    wanted(`properties.imageRegistryCredentials[${at}].passwordReference`, one.passwordReference)
  }
  for (const [at, volume] of (properties.volumes ?? []).entries()) {
    const path = `properties.volumes[${at}]`
    wanted(
      `${path}.azureFile.storageAccountKeyReference`,
      volume.azureFile?.storageAccountKeyReference,
    )
    for (const [key, name] of Object.entries(volume.secretReference ?? {})) {
      wanted(`${path}.secretReference.${key}`, name)
    }
  }
  return problems
}

/** A group that was stopped, has ended or was never created is simply created again (facts 4.5). */
function isOver(current: Resource | undefined): boolean {
  if (current === undefined || current.state === 'Failed') return true
  // The id is of this type, and so are the model and the observation.
  const model = current.model as ContainerGroup
  const state = groupStateOf(model, current.observed as Observed | undefined)
  return ['Stopped', 'Succeeded', 'Failed'].includes(state)
}

/** What may not change while a group runs (facts 4.5). */
export function updateProblems(
  name: string,
  desired: Pick<ContainerGroup, 'properties'>,
  previous: Pick<ContainerGroup, 'properties'>,
): readonly Problem[] {
  const problems: Problem[] = []
  const now = desired.properties
  const before = previous.properties
  const compare = (path: string, property: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) === JSON.stringify(b)) return
    problems.push(problemOf('InvalidContainerGroupUpdate', path, { name, property }))
  }
  compare('properties.osType', 'osType', now.osType, before.osType)
  compare('properties.restartPolicy', 'restartPolicy', now.restartPolicy, before.restartPolicy)
  const subnets = (one: GroupProperties): readonly string[] =>
    (one.subnetIds ?? []).map(({ id }) => id.toLowerCase()).sort()
  compare('properties.subnetIds', 'subnetIds', subnets(now), subnets(before))
  for (const [at, one] of now.containers.entries()) {
    const other = before.containers.find((each) => each.name === one.name)
    if (other === undefined) continue
    for (const kind of ['requests', 'limits'] as const) {
      const mine = one.properties?.resources?.[kind]
      const theirs = other.properties?.resources?.[kind]
      for (const [amount, a, b] of [
        ['cpu', mine?.cpu, theirs?.cpu],
        ['memoryInGB', mine?.memoryInGB, theirs?.memoryInGB],
        ['gpu', [mine?.gpu?.count, mine?.gpu?.sku], [theirs?.gpu?.count, theirs?.gpu?.sku]],
      ] as const) {
        const path = `properties.containers[${at}].properties.resources.${kind}.${amount}`
        compare(path, `${one.name}: ${kind}.${amount}`, a, b)
      }
    }
  }
  return problems
}

async function quotaProblems(
  { id, reader }: RuleContext<ContainerGroup>,
  { groupsPerSubscriptionMax: limit }: ContainerLimits,
): Promise<readonly Problem[]> {
  const under = subscriptionIdOf(subscriptionOf(id) ?? '')
  const query = { type: 'ContainerInstance/containerGroups', under, limit }
  if (await reader.hasRoom(query)) return []
  return [problemOf('ContainerGroupQuotaReached', '', { limit, usage: limit })]
}
