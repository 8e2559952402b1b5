/** What is wrong with the containers of a group: names, images, ports, variables, resources, probes, security. */

import type { Problem } from '#kernel/error.ts'
import { type ContainerCode, problemOf } from '../errors.ts'
import type { ContainerLimits } from '../limits.ts'
import { allContainers, type ContainerGroup, variablePlace } from './model.ts'
import { portProblems } from './port-rules.ts'
import type { ContainerProperties, ProbeShape, SecurityContext } from './shapes.ts'

export function containerProblems(
  group: ContainerGroup,
  limits: ContainerLimits,
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
  // A profile or a pool may bring the images (facts 4.7).
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
    if ((properties.image ?? '').trim() === '' && !imagesElsewhere) {
      problems.push(problemOf('ImageNotSpecified', `${path}.properties.image`, { name }))
    }
    problems.push(
      ...variableProblems(group, list, name, properties, `${path}.properties`),
      ...portProblems(properties.ports ?? [], `${path}.properties.ports`, ports),
      ...probeProblems(name, properties, `${path}.properties`),
      ...securityProblems(name, properties.securityContext, `${path}.properties.securityContext`),
    )
  }
  return [...problems, ...resourceProblems(group, limits)]
}

function variableProblems(
  group: ContainerGroup,
  list: string,
  container: string,
  { environmentVariables = [] }: ContainerProperties,
  path: string,
): readonly Problem[] {
  const problems: Problem[] = []
  const names = new Set<string>()
  for (const [at, variable] of environmentVariables.entries()) {
    const { name, value, secureValueReference } = variable
    const here = `${path}.environmentVariables[${at}]`
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name)) {
      problems.push(problemOf('InvalidEnvironmentVariableName', `${here}.name`, { name }))
    }
    if (names.has(name)) {
      problems.push(problemOf('DuplicateEnvironmentVariable', `${here}.name`, { name }))
    }
    names.add(name)
    const place = variablePlace(list, container, name)
    const secure = Object.hasOwn(group.secrets, place) ? '' : undefined
    const given = [value, secure, secureValueReference].filter((one) => one !== undefined)
    if (given.length > 1) {
      problems.push(problemOf('EnvironmentVariableHasSeveralValues', here, { name }))
    }
  }
  return problems
}

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
      if (gpu !== undefined && gpu.count < 0) add(`${kind}.gpu.count`, 'a count is not below 0')
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
  if (httpGet !== undefined) {
    if (httpGet.port < 1 || httpGet.port > 65_535) add('.httpGet.port', 'expected 1 to 65535')
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
    if (value !== undefined && (value < 0 || value > 2 ** 31 - 1)) {
      add(field, 'expected a whole number from 0')
    }
  }
  for (const field of ['add', 'drop'] as const) {
    for (const [at, value] of (security?.capabilities?.[field] ?? []).entries()) {
      if (!/^[A-Za-z0-9_]{1,64}$/.test(value)) {
        add(`capabilities.${field}[${at}]`, 'expected the name of a capability')
      }
    }
  }
  const profile = security?.seccompProfile
  if (profile !== undefined && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(profile)) {
    add('seccompProfile', 'expected base64')
  }
  return problems
}
