/** Problems of a group's volumes, mounts, and registry credentials. */

import {
  fileNameProblem,
  mountPathProblem,
  plainPath,
  registryProblem,
} from '#engines/containers/safe-text.ts'
import {
  addressProblem,
  directoryProblem,
  revisionProblem,
} from '#engines/repositories/repository-address.ts'
import type { Problem } from '#kernel/error.ts'
import type { Seal } from '#kernel/ports.ts'
import { configMapPath, keyValues } from '../../../domain/groups/spec.ts'
import type { ContainerLimits } from '../../../domain/limits.ts'
import {
  openSecret,
  placeOf,
  repositoryPlace,
  unescapeSegment,
} from '../../../domain/sealed-secrets.ts'
import { problemOf } from '../../../errors.ts'
import { allContainers, type ContainerGroup } from '../model.ts'
import type { Volume } from '../versions/shapes.ts'

export function volumeProblems(
  group: ContainerGroup,
  limits: ContainerLimits,
  seal: Seal,
): readonly Problem[] {
  const problems: Problem[] = []
  const { volumes = [] } = group.properties
  if (volumes.length > limits.volumesPerGroupMax) {
    const limit = limits.volumesPerGroupMax
    problems.push(problemOf('TooManyVolumes', 'properties.volumes', { limit }))
  }
  const names = new Set<string>()
  for (const [at, volume] of volumes.entries()) {
    const { name } = volume
    const path = `properties.volumes[${at}]`
    // Facts 4.7 requires at least 5 characters; the contract has no such limit, and nothing here needs it.
    if (!/^[a-z0-9](?:-?[a-z0-9]){0,62}$/.test(name) || name.length > 63) {
      problems.push(problemOf('InvalidVolumeName', `${path}.name`, { name }))
    }
    if (names.has(name)) problems.push(problemOf('DuplicateVolumeName', `${path}.name`, { name }))
    names.add(name)
    problems.push(...sourceProblems(group, volume, path, seal))
  }
  return [...problems, ...mountProblems(group, names), ...credentialProblems(group)]
}

const sources = ['azureFile', 'emptyDir', 'secret', 'secretReference', 'gitRepo'] as const
const shareName = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

function sourceProblems(
  group: ContainerGroup,
  volume: Volume,
  path: string,
  seal: Seal,
): readonly Problem[] {
  const problems: Problem[] = []
  const { name } = volume
  const add = (where: string, reason: string): void => {
    problems.push(problemOf('InvalidVolume', `${path}${where}`, { name, reason }))
  }
  const given = sources.filter((source) => volume[source] !== undefined)
  if (given.length !== 1) add('', `give one of ${sources.join(', ')}`)
  for (const [key, text] of secretValues(group, name, seal)) {
    const reason = fileNameProblem(key)
    if (reason !== undefined) add(`.secret.${key}`, `the key is no name of a file: ${reason}`)
    if (text === undefined || !isBase64(text)) add(`.secret.${key}`, 'the value is not base64')
  }
  for (const key of Object.keys(volume.secretReference ?? {})) {
    const reason = fileNameProblem(key)
    if (reason === undefined) continue
    add(`.secretReference.${key}`, `the key is no name of a file: ${reason}`)
  }
  const { azureFile, gitRepo } = volume
  if (azureFile !== undefined) {
    if (!shareName.test(azureFile.shareName)) {
      add('.azureFile.shareName', 'expected 1 to 63 letters, digits and hyphens')
    }
    if (!shareName.test(azureFile.storageAccountName)) {
      add('.azureFile.storageAccountName', 'expected 1 to 63 letters, digits and hyphens')
    }
  }
  if (gitRepo !== undefined) {
    const { directory, revision } = gitRepo
    const sealed = openSecret(seal, group.place, group.secrets, repositoryPlace(name))
    const repository = sealed ?? gitRepo.repository
    for (const [member, reason] of [
      ['repository', addressProblem(repository, ['https', 'http'])],
      ['directory', directory === undefined ? undefined : directoryProblem(directory)],
      ['revision', revision === undefined ? undefined : revisionProblem(revision)],
    ] as const) {
      if (reason !== undefined) add(`.gitRepo.${member}`, reason)
    }
  }
  return problems
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text.replace(/\s/g, ''))
}

/** The plain values of a secret volume; undefined for one that does not open. */
export function secretValues(
  group: Pick<ContainerGroup, 'secrets' | 'place'>,
  volume: string,
  seal: Seal,
): readonly (readonly [key: string, text: string | undefined])[] {
  const prefix = `${placeOf('volumes', volume, 'secret')}/`
  return Object.keys(group.secrets)
    .filter((place) => place.startsWith(prefix))
    .map((place) => [
      unescapeSegment(place.slice(prefix.length)),
      openSecret(seal, group.place, group.secrets, place),
    ])
}

function mountProblems(group: ContainerGroup, volumes: ReadonlySet<string>): readonly Problem[] {
  const problems: Problem[] = []
  for (const { list, at, name, properties } of allContainers(group)) {
    // The key-value pairs of a container are mounted there.
    const hasMap = keyValues(properties.configMap).length > 0
    const paths = new Set(hasMap ? [configMapPath(name)] : [])
    for (const [index, { name: volume, mountPath }] of (properties.volumeMounts ?? []).entries()) {
      const path = `properties.${list}[${at}].properties.volumeMounts[${index}]`
      if (!volumes.has(volume)) {
        problems.push(problemOf('VolumeMountWithoutVolume', `${path}.name`, { name: volume }))
      }
      const reason =
        mountPathProblem(mountPath) ??
        (paths.has(plainPath(mountPath)) ? 'something else is mounted there' : undefined)
      if (reason !== undefined) {
        problems.push(
          problemOf('InvalidMountPath', `${path}.mountPath`, { path: mountPath, reason }),
        )
      }
      paths.add(plainPath(mountPath))
    }
  }
  return problems
}

function credentialProblems({ properties }: ContainerGroup): readonly Problem[] {
  const problems: Problem[] = []
  const servers = new Set<string>()
  for (const [at, { server }] of (properties.imageRegistryCredentials ?? []).entries()) {
    const path = `properties.imageRegistryCredentials[${at}].server`
    const reason =
      registryProblem(server) ??
      (servers.has(server.toLowerCase()) ? 'the server is given twice' : undefined)
    if (reason !== undefined) {
      problems.push(problemOf('InvalidImageRegistryCredential', path, { server, reason }))
    }
    servers.add(server.toLowerCase())
  }
  return problems
}
