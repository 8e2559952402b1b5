/**
 * Opens what a group needs for one call of the engine: secret variables, files, archives, credentials. It
 * returns them and keeps nothing; what has to go after the call is put on `held`. Throws `MaterialFailure` when something is not to be had.
 */

import { mkdir } from 'node:fs/promises'
import type { GroupContents, RegistryCredentials, VolumeFile } from '#engines/containers/engine.ts'
import type { Seal } from '#kernel/ports.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import type { Repositories, SecretStore } from '../../dependencies.ts'
import {
  allContainers,
  type ContainerGroup,
  variablePlace,
} from '../../resources/container-groups/model.ts'
import { secretValues } from '../../resources/container-groups/rules/volumes.ts'
import { callService, MaterialFailure } from '../engine-failure.ts'
import { openSecret, placeOf, repositoryPlace } from '../sealed-secrets.ts'
import { plainHost, registryOf } from './image-policy.ts'
import { keyValues, shareFolder } from './spec.ts'

export interface ContentDependencies {
  readonly seal: Seal
  readonly secrets: SecretStore | undefined
  readonly repositories: Repositories | undefined
  readonly shareRoot: string | undefined
}

export async function groupContents(
  model: ContainerGroup,
  deps: ContentDependencies,
  held: AsyncDisposableStack,
  signal?: AbortSignal,
): Promise<GroupContents> {
  const files = new Map<string, readonly VolumeFile[]>()
  const archives = new Map<string, () => AsyncIterable<Uint8Array>>()
  for (const [at, volume] of (model.properties.volumes ?? []).entries()) {
    const name = `v${at}`
    if (volume.secret !== undefined) {
      files.set(
        name,
        secretValues(model, volume.name, deps.seal).map(([key, text]) => ({
          name: key,
          bytes: Buffer.from(opened(text), 'base64'),
        })),
      )
    }
    if (volume.secretReference !== undefined) {
      files.set(name, await referencedFiles(model, volume.secretReference, deps))
    }
    if (volume.azureFile !== undefined && deps.shareRoot !== undefined) {
      const folder = shareFolder(model, volume, deps.shareRoot)
      const share = volume.azureFile.shareName
      await callService(() => mkdir(folder, { recursive: true }), 'FileShareNotAvailable', {
        share,
      })
    }
    const { gitRepo } = volume
    if (gitRepo !== undefined && deps.repositories !== undefined) {
      const { repositories } = deps
      const directory = gitRepo.directory ?? defaultDirectory(gitRepo.repository)
      const { revision } = gitRepo
      const place = repositoryPlace(volume.name)
      const repository = Object.hasOwn(model.secrets, place)
        ? opened(openSecret(deps.seal, model.place, model.secrets, place))
        : gitRepo.repository
      const fetched = await callService(
        () =>
          repositories.fetch({ owner: ownerOf(model), repository, directory, revision, signal }),
        'GitRepositoryNotAvailable',
        { volume: volume.name },
      )
      held.use(fetched)
      archives.set(name, () => fetched.archive())
    }
  }
  const maps = allContainers(model).filter((one) => keyValues(one.properties.configMap).length > 0)
  for (const [at, { properties }] of maps.entries()) {
    files.set(
      `c${at}`,
      keyValues(properties.configMap).map(([name, value]) => ({ name, bytes: Buffer.from(value) })),
    )
  }
  return { environment: await environmentOf(model, deps), files, archives }
}

/** The key of the resource group. */
function ownerOf({ place }: ContainerGroup): string {
  return place.split('/providers/', 1)[0] ?? place
}

/** The folder that `git clone` would use. */
function defaultDirectory(repository: string): string {
  return (
    withoutTrailing(repository, '/')
      .split('/')
      .at(-1)
      ?.replace(/\.git$/, '') ?? 'repository'
  )
}

async function environmentOf(
  model: ContainerGroup,
  deps: ContentDependencies,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const all = new Map<string, ReadonlyMap<string, string>>()
  for (const { name: container, list, properties } of allContainers(model)) {
    const variables = new Map<string, string>()
    for (const { name, secureValueReference } of properties.environmentVariables ?? []) {
      const place = variablePlace(list, container, name)
      if (Object.hasOwn(model.secrets, place)) {
        variables.set(name, opened(openSecret(deps.seal, model.place, model.secrets, place)))
      } else if (secureValueReference !== undefined) {
        variables.set(name, await resolve(model, secureValueReference, deps))
      }
    }
    if (variables.size > 0) all.set(container, variables)
  }
  return all
}

async function referencedFiles(
  model: ContainerGroup,
  references: Readonly<Record<string, string>>,
  deps: ContentDependencies,
): Promise<readonly VolumeFile[]> {
  const files: VolumeFile[] = []
  for (const [name, reference] of Object.entries(references)) {
    files.push({ name, bytes: Buffer.from(await resolve(model, reference, deps)) })
  }
  return files
}

/** The secret of a reference in the group. */
async function resolve(
  { properties, secretIds = {}, writer }: ContainerGroup,
  name: string,
  { secrets }: ContentDependencies,
): Promise<string> {
  const uri = properties.secretReferences?.find((one) => one.name === name)?.secretReferenceUri
  if (uri === undefined || secrets === undefined) {
    const reason = 'this installation has no secret store'
    throw new MaterialFailure('SecretNotAvailable', 'never', { name, reason })
  }
  const { locate } = secrets
  if (locate !== undefined) {
    // A vault of that name may have been created or moved since the writer's rights were checked.
    const id = await callService(() => locate(uri), 'SecretNotAvailable', { name })
    const granted = Object.hasOwn(secretIds, uri) ? secretIds[uri] : undefined
    if (id === undefined || id.key !== granted) {
      const reason =
        id === undefined
          ? 'there is no such vault'
          : 'its vault was made after the group was written; PUT the group again'
      throw new MaterialFailure('SecretNotAvailable', 'never', { name, reason })
    }
    const { mayUse } = secrets
    // The value may have changed since the writer's right was first checked.
    const may =
      mayUse === undefined ||
      (writer !== undefined &&
        (await callService(() => mayUse(writer, id), 'SecretNotAvailable', { name })))
    if (!may) {
      const reason =
        'whoever wrote the reference may not use the secret any more; somebody who may has to PUT or restart the group'
      throw new MaterialFailure('SecretNotAvailable', 'never', { name, reason })
    }
  }
  const value = await callService(() => secrets.read(uri), 'SecretNotAvailable', { name })
  if (value !== undefined) return value
  const reason = 'the secret store has no such secret'
  throw new MaterialFailure('SecretNotAvailable', 'never', { name, reason })
}

function opened(text: string | undefined): string {
  if (text === undefined) throw new MaterialFailure('SecretUnreadable', 'never', {})
  return text
}

/** The credentials for the server that the image names. */
export async function credentialsOf(
  model: ContainerGroup,
  image: string,
  deps: ContentDependencies,
): Promise<RegistryCredentials | undefined> {
  const host = registryOf(image)
  const found = (model.properties.imageRegistryCredentials ?? []).find(
    (one) => plainHost(one.server) === host,
  )
  if (found === undefined) return undefined
  const { server, username = '', passwordReference } = found
  const place = placeOf('imageRegistryCredentials', server, 'password')
  const password = Object.hasOwn(model.secrets, place)
    ? opened(openSecret(deps.seal, model.place, model.secrets, place))
    : passwordReference === undefined
      ? ''
      : await resolve(model, passwordReference, deps)
  return { server, username, password }
}

/** One set of credentials for each registry that the group's images name. */
export async function allCredentials(
  model: ContainerGroup,
  deps: ContentDependencies,
): Promise<readonly RegistryCredentials[]> {
  const images = new Map<string, string>()
  for (const { properties } of allContainers(model)) {
    if (properties.image !== undefined) images.set(registryOf(properties.image), properties.image)
  }
  const found = await Promise.all(
    [...images.values()].map((image) => credentialsOf(model, image, deps)),
  )
  return found.filter((one) => one !== undefined)
}
