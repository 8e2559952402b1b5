/** Problems of a group's containers: names, images, ports, variables, resources, probes, security. */

import {
  capabilityProblem,
  environmentNameProblem,
  fileNameProblem,
  headerNameProblem,
  headerValueProblem,
  imageProblem,
  probePathProblem,
  seccompProblem,
  userIdProblem,
  valueProblem,
  wordProblem,
} from '#engines/containers/safe-text.ts'
import type { Problem } from '#kernel/error.ts'
import type { Seal } from '#kernel/ports.ts'
import { type AllowedRegistries, isAllowedImage } from '../../../domain/groups/image-policy.ts'
import { keyValues } from '../../../domain/groups/spec.ts'
import type { ContainerLimits } from '../../../domain/limits.ts'
import { openSecret } from '../../../domain/sealed-secrets.ts'
import { type ContainerCode, problemOf } from '../../../errors.ts'
import { allContainers, type ContainerGroup, variablePlace } from '../model.ts'
import type { RuleDependencies } from '../rules.ts'
import type { ContainerProperties, ProbeShape, SecurityContext } from '../versions/shapes.ts'
import { portProblems } from './ports.ts'

export function containerProblems(
  group: ContainerGroup,
  limits: ContainerLimits,
  { seal, allowedRegistries }: Pick<RuleDependencies, 'seal' | 'allowedRegistries'>,
): readonly Problem[] {
  const problems: Problem[] = []
  const all = allContainers(group)
  const { containers, containerGroupProfile, standbyPoolProfile } = group.properties
  if (containers.length === 0) {
    problems.push(problemOf('ContainersNotSpecified', 'properties.containers'))
  }
  if (all.length > limits.containersPerGroupMax) {
    const limit = limits.containersPerGroupMax
    problems.push(problemOf('TooManyContainers', 'properties.containers', { limit }))
  }
  // The images may come from a profile or a pool (facts 4.7).
  const imagesElsewhere = containerGroupProfile !== undefined || standbyPoolProfile !== undefined
  const names = new Set<string>()
  const ports = new Set<string>()
  for (const { name, list, at, properties } of all) {
    const path = `properties.${list}[${at}]`
    if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
      problems.push(problemOf('InvalidContainerName', `${path}.name`, { name }))
    }
    if (names.has(name))
      problems.push(problemOf('DuplicateContainerName', `${path}.name`, { name }))
    names.add(name)
    problems.push(
      ...imageProblems(
        { name, properties },
        imagesElsewhere,
        allowedRegistries,
        `${path}.properties.image`,
      ),
      ...commandProblems(properties.command, `${path}.properties.command`),
      ...variableProblems(group, { list, name, properties }, `${path}.properties`, seal),
      ...configMapProblems(name, properties, `${path}.properties.configMap.keyValuePairs`),
      ...portProblems(properties.ports ?? [], `${path}.properties.ports`, ports),
      ...probeProblems(name, properties, `${path}.properties`),
      ...securityProblems(name, properties.securityContext, `${path}.properties.securityContext`),
    )
  }
  return [...problems, ...resourceProblems(group, limits)]
}

function imageProblems(
  {
    name,
    properties: { image = '' },
  }: { readonly name: string; readonly properties: ContainerProperties },
  imagesElsewhere: boolean,
  allowedRegistries: AllowedRegistries,
  path: string,
): readonly Problem[] {
  if (image.trim() === '') {
    return imagesElsewhere ? [] : [problemOf('ImageNotSpecified', path, { name })]
  }
  const reason = imageProblem(image)
  if (reason !== undefined) return [problemOf('InvalidImageName', path, { image, name, reason })]
  if (isAllowedImage(image, allowedRegistries)) return []
  const allowed = allowedRegistries.join(', ')
  return [problemOf('ImageNotAllowed', path, { image, name, allowed })]
}

function commandProblems(command: readonly string[] = [], path: string): readonly Problem[] {
  return command.flatMap((word, at) => {
    const reason = wordProblem(word, at)
    return reason === undefined ? [] : [problemOf('InvalidCommand', `${path}[${at}]`, { reason })]
  })
}

function configMapProblems(
  name: string,
  { configMap }: ContainerProperties,
  path: string,
): readonly Problem[] {
  return keyValues(configMap).flatMap(([key, value]) => {
    const keyReason = fileNameProblem(key)
    const reason =
      keyReason === undefined ? valueProblem(value) : `the key is no name of a file: ${keyReason}`
    return reason === undefined
      ? []
      : [problemOf('InvalidConfigMap', `${path}.${key}`, { name, reason })]
  })
}

function variableProblems(
  group: ContainerGroup,
  container: {
    readonly list: string
    readonly name: string
    readonly properties: ContainerProperties
  },
  path: string,
  seal: Seal,
): readonly Problem[] {
  const { environmentVariables = [] } = container.properties
  const problems: Problem[] = []
  const names = new Set<string>()
  for (const [at, variable] of environmentVariables.entries()) {
    const { name, value, secureValueReference } = variable
    const here = `${path}.environmentVariables[${at}]`
    if (environmentNameProblem(name) !== undefined) {
      problems.push(problemOf('InvalidEnvironmentVariableName', `${here}.name`, { name }))
    }
    if (names.has(name)) {
      problems.push(problemOf('DuplicateEnvironmentVariable', `${here}.name`, { name }))
    }
    names.add(name)
    const place = variablePlace(container.list, container.name, name)
    const secure = Object.hasOwn(group.secrets, place)
      ? (openSecret(seal, group.place, group.secrets, place) ?? '')
      : undefined
    const reason = valueProblem(value ?? secure ?? '')
    if (reason !== undefined) {
      const member = value === undefined ? 'secureValue' : 'value'
      problems.push(
        problemOf('InvalidEnvironmentVariableValue', `${here}.${member}`, { name, reason }),
      )
    }
    const given = [value, secure, secureValueReference].filter((one) => one !== undefined)
    if (given.length > 1) {
      problems.push(problemOf('EnvironmentVariableHasSeveralValues', here, { name }))
    }
  }
  return problems
}

/** More than any machine has. */
const gpusMax = 1000

/** Facts 4.7: a limit is at least its request and at most the group's total. */
function resourceProblems(
  { properties }: ContainerGroup,
  limits: ContainerLimits,
): readonly Problem[] {
  const problems: Problem[] = []
  const totals = { cpu: 0, memoryInGB: 0 }
  for (const { properties: one } of properties.containers) {
    totals.cpu += one?.resources?.requests?.cpu ?? 0
    totals.memoryInGB += one?.resources?.requests?.memoryInGB ?? 0
  }
  const most = { cpu: limits.cpuPerGroupMax, memoryInGB: limits.memoryInGBPerGroupMax }
  for (const [at, { name, properties: one }] of properties.containers.entries()) {
    const path = `properties.containers[${at}].properties.resources`
    const { requests = {}, limits: bounds = {} } = one?.resources ?? {}
    const add = (where: string, reason: string): void => {
      problems.push(problemOf('InvalidResources', `${path}.${where}`, { name, reason }))
    }
    for (const amount of ['cpu', 'memoryInGB'] as const) {
      const request = requests[amount] ?? 0
      const bound = bounds[amount]
      if (!(request > 0)) add(`requests.${amount}`, 'a request is more than 0')
      else if (request > most[amount]) add(`requests.${amount}`, `at most ${most[amount]}`)
      if (bound === undefined) continue
      if (bound < request)
        add(`limits.${amount}`, `the limit ${bound} is below the request ${request}`)
      else if (bound > totals[amount]) {
        add(`limits.${amount}`, `the limit ${bound} is above the group's total ${totals[amount]}`)
      }
    }
    for (const [kind, gpu] of [
      ['requests', requests.gpu],
      ['limits', bounds.gpu],
    ] as const) {
      const isCount = gpu === undefined || (gpu.count >= 0 && gpu.count <= gpusMax)
      if (!isCount) add(`${kind}.gpu.count`, `a count is from 0 to ${gpusMax}`)
    }
  }
  return problems
}

function probeProblems(
  name: string,
  properties: ContainerProperties,
  path: string,
): readonly Problem[] {
  return (['livenessProbe', 'readinessProbe'] as const).flatMap((kind) => {
    const probe = properties[kind]
    return probe === undefined ? [] : oneProbeProblems(name, probe, `${path}.${kind}`)
  })
}

function oneProbeProblems(name: string, probe: ProbeShape, path: string): readonly Problem[] {
  const problems: Problem[] = []
  const add = (where: string, reason: string, code: ContainerCode = 'InvalidProbe'): void => {
    problems.push(problemOf(code, `${path}${where}`, { name, reason }))
  }
  const { exec, httpGet } = probe
  if ((exec === undefined) === (httpGet === undefined)) add('', 'give one of exec and httpGet')
  if (exec !== undefined && (exec.command ?? []).length === 0) {
    add('.exec.command', 'the command is empty')
  }
  for (const [at, word] of (exec?.command ?? []).entries()) {
    const reason = wordProblem(word, at)
    if (reason !== undefined) add(`.exec.command[${at}]`, reason)
  }
  if (httpGet !== undefined) {
    if (httpGet.port < 1 || httpGet.port > 65_535) add('.httpGet.port', 'expected 1 to 65535')
    const { path: asked = '/', httpHeaders = [] } = httpGet
    const reason = probePathProblem(asked)
    if (reason !== undefined) add('.httpGet.path', reason)
    for (const [at, { name: header = '', value = '' }] of httpHeaders.entries()) {
      const [ofName, ofValue] = [headerNameProblem(header), headerValueProblem(value)]
      if (ofName !== undefined) add(`.httpGet.httpHeaders[${at}].name`, ofName)
      if (ofValue !== undefined) add(`.httpGet.httpHeaders[${at}].value`, ofValue)
    }
    if (!['http', 'https'].includes((httpGet.scheme ?? 'http').toLowerCase())) {
      add('.httpGet.scheme', 'expected http or https')
    }
  }
  for (const [field, least] of [
    ['initialDelaySeconds', 0],
    ['periodSeconds', 1],
    ['failureThreshold', 1],
    ['successThreshold', 1],
    ['timeoutSeconds', 1],
  ] as const) {
    const value = probe[field]
    if (value !== undefined && (value < least || value > 86_400)) {
      add(`.${field}`, `expected ${least} to 86400`)
    }
  }
  return problems
}

function securityProblems(
  name: string,
  security: SecurityContext | undefined,
  path: string,
): readonly Problem[] {
  const problems: Problem[] = []
  const add = (where: string, reason: string): void => {
    problems.push(problemOf('InvalidSecurityContext', `${path}.${where}`, { name, reason }))
  }
  for (const field of ['runAsUser', 'runAsGroup'] as const) {
    const value = security?.[field]
    const reason = value === undefined ? undefined : userIdProblem(value)
    if (reason !== undefined) add(field, reason)
  }
  for (const field of ['add', 'drop'] as const) {
    for (const [at, value] of (security?.capabilities?.[field] ?? []).entries()) {
      const reason = capabilityProblem(value)
      if (reason !== undefined) add(`capabilities.${field}[${at}]`, reason)
    }
  }
  const profile = security?.seccompProfile
  if (profile !== undefined) {
    const reason = /^[A-Za-z0-9+/]*={0,2}$/.test(profile.replace(/\s/g, ''))
      ? seccompProblem(Buffer.from(profile, 'base64').toString())
      : 'expected base64'
    if (reason !== undefined) add('seccompProfile', reason)
  }
  return problems
}
