/**
 * Creates the volumes, the sandbox, the file contents and the parts of a group on a Docker API, and keeps what an
 * interrupted attempt made. It starts only the sandbox and removes nothing.
 */

import { posix } from 'node:path'
import { oneChunk } from '#kernel/one-chunk.ts'
import {
  type ContainerSpec,
  EngineError,
  type GroupContents,
  type GroupSpec,
  type VolumeSpec,
} from '../engine.ts'
import { type Json, textAt, timeAt } from '../json.ts'
import type { DockerClient } from './client.ts'
import { accountsFolder, copiedAccounts, ownFiles } from './host-side.ts'
import { type Names, pathOf, sandboxName } from './names.ts'
import { labelOf } from './observation.ts'
import { pauseImage, pauseProgram, pauseRoot } from './pause-image.ts'
import { inspectContainer } from './read-containers.ts'
import { writeTar } from './tar.ts'
import {
  accountsBody,
  type Creation,
  type Dialect,
  type PartMaterial,
  volumeBody,
  volumesFolder,
} from './to-docker.ts'
import type { Verifier } from './verifier.ts'

/** One group to be created. */
interface GroupCreation {
  readonly names: Names
  readonly spec: GroupSpec
  readonly contents: GroupContents
  /** The current inspections of the group's containers. */
  readonly existing: readonly Json[]
  readonly dialect: Dialect
  /** A network that the operator made; undefined: the engine's default one. */
  readonly network: string | undefined
}

export class GroupCreator {
  readonly #client: DockerClient
  readonly #verifier: Verifier
  #pauseImported: Promise<void> | undefined

  constructor(client: DockerClient, verifier: Verifier) {
    this.#client = client
    this.#verifier = verifier
  }

  /** Expects a spec that passed `checkSpec`. */
  async make(creation: GroupCreation): Promise<void> {
    const { names, spec, contents, existing, dialect } = creation
    for (const container of existing) {
      if (labelOf(container, 'hash') !== spec.hash) {
        throw new EngineError('busy', 'containers of an earlier version are still there')
      }
    }
    const have = new Set(existing.map((container) => labelOf(container, 'part') ?? ''))
    const missing = spec.parts.filter((part) => !have.has(part.name))
    const sandbox = existing.find((container) => labelOf(container, 'part') === undefined)
    if (missing.length === 0 && sandbox !== undefined) return
    await this.#makeSandbox(creation, sandbox)
    // Parts are created after the files, so where a part exists the files do. Files are never written again under a
    // part that reads them.
    if (missing.length === spec.parts.length) {
      await Promise.all(spec.volumes.map((volume) => this.#fill(creation, volume)))
    }
    const material = await this.#hostSide(creation, missing)
    await Promise.all(
      missing.map(async (part) => {
        const secrets = contents.environment?.get(part.name) ?? new Map()
        const given = { secrets, ...material(part) }
        await this.#container(creation, dialect.part(names, spec, part, given))
      }),
    )
  }

  /** What each missing part gets beside its spec. */
  async #hostSide(creation: GroupCreation, missing: readonly ContainerSpec[]) {
    const { names, spec, dialect } = creation
    const { api } = dialect
    // One part of each image. One after the other, so that no more than one image's accounts are in memory.
    const ofImage = new Map(missing.map((part) => [part.image, part]))
    const found = new Map<string, Omit<PartMaterial, 'secrets' | 'files'>>()
    for (const part of ofImage.values()) {
      const seen = await this.#seen(part.image, dialect)
      const hasFolder = await this.#copyAccounts(creation, part, seen.image)
      found.set(part.image, { ...seen, hasFolder })
    }
    const sandbox = await inspectContainer(this.#client, sandboxName(names), { api })
    const bare = { image: '', workingFolder: '/', hasFolder: false }
    return (part: ContainerSpec) => ({
      ...(found.get(part.image) ?? bare),
      files: ownFiles(sandbox, spec, part, api),
    })
  }

  /**
   * Fills the volume of accounts for an image, and answers whether it has their folder. Removes the group where they are refused.
   */
  async #copyAccounts(
    { names, spec, dialect }: GroupCreation,
    part: ContainerSpec,
    image: string,
  ): Promise<boolean> {
    const { name, ...call } = dialect.unstarted(names, part, image)
    const { api } = dialect
    const doing = `read the accounts of the image '${part.image}'`
    const path = `/containers/${name}`
    const change = { kind: 'change', api, doing } as const
    await this.#client.json({ ...change, method: 'POST', path: '/containers/create', ...call })
    const [copied] = await Promise.allSettled([
      copiedAccounts({ client: this.#client, api, container: name, image: part.image }, spec),
    ])
    await this.#client.json({
      ...change,
      method: 'DELETE',
      path,
      query: { force: 'true', v: 'true' },
    })
    if (copied.status === 'rejected') {
      const error: unknown = copied.reason
      if (error instanceof EngineError && error.kind === 'refused')
        await this.#verifier.remove(names)
      throw error
    }
    await this.#upload(names, accountsFolder, oneChunk(copied.value.archive), doing)
    return copied.value.hasFolder
  }

  /** The id of an image, whose name may get another one meanwhile, and the working folder that it says. */
  async #seen(name: string, { api }: Dialect) {
    const path = `/images/${pathOf(name)}/json`
    const doing = `inspect the image '${name}'`
    const found = await this.#client.json({ method: 'GET', api, path, doing })
    return {
      image: textAt(found, 'Id'),
      workingFolder: posix.join('/', textAt(found, 'Config', 'WorkingDir')),
    }
  }

  async #makeSandbox(creation: GroupCreation, existing: Json): Promise<void> {
    const { names, spec, dialect, network } = creation
    if (timeAt(existing, 'State', 'FinishedAt') !== undefined) {
      throw new EngineError('busy', 'the ended sandbox must be removed first')
    }
    if (existing === undefined) {
      const bodies = spec.volumes.map((volume) => volumeBody(names, spec, volume))
      bodies.push(accountsBody(names, spec))
      const path = '/volumes/create'
      const doing = 'create a volume'
      await Promise.all([
        this.#pause(),
        ...bodies
          .filter((body) => body !== undefined)
          .map((body) => this.#client.json({ method: 'POST', kind: 'change', path, body, doing })),
      ])
      try {
        await this.#container(creation, dialect.sandbox(names, spec, network))
      } catch (error) {
        // Somebody removed this engine's images: forget that ours was there.
        if (error instanceof EngineError && error.kind === 'absent') {
          this.#pauseImported = undefined
          throw new EngineError('busy', error.message, { cause: error })
        }
        throw error
      }
    }
    await this.#verifier.sandbox(names, spec, dialect, network)
    const path = `/containers/${sandboxName(names)}/start`
    await this.#client.json({ method: 'POST', kind: 'change', path, doing: 'start the sandbox' })
  }

  /** Creates a container, or finds that the same one exists. */
  async #container(
    { spec, dialect: { api } }: GroupCreation,
    { name, ...call }: Creation,
  ): Promise<void> {
    const doing = `create the container '${name}'`
    try {
      await this.#client.json({
        method: 'POST',
        kind: 'change',
        api,
        path: '/containers/create',
        ...call,
        doing,
      })
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind !== 'busy') throw error
      // The name is taken: by our own earlier call, or by something else.
      const found = await inspectContainer(this.#client, name)
      if (labelOf(found, 'hash') !== spec.hash) throw error
    }
  }

  async #fill({ names, contents, dialect }: GroupCreation, volume: VolumeSpec): Promise<void> {
    const doing = `fill the volume '${volume.name}'`
    if (volume.kind === 'empty') {
      const { folder, entry } = dialect.openVolume(volume.name)
      // Any user of any part may write to it, as in a pod.
      const upload = oneChunk(writeTar([{ name: entry, mode: 0o777 }]))
      return await this.#upload(names, folder, upload, doing)
    }
    const upload = uploadOf(volume, contents)
    if (upload === undefined) return
    await this.#upload(names, `${volumesFolder}/${volume.name}`, upload, doing)
  }

  async #upload(
    names: Names,
    folder: string,
    upload: AsyncIterable<Uint8Array>,
    doing: string,
  ): Promise<void> {
    await this.#client.json({
      method: 'PUT',
      kind: 'change',
      path: `/containers/${sandboxName(names)}/archive`,
      query: { path: folder },
      upload,
      doing,
    })
  }

  /** The sandbox's image, made once per engine and found again afterwards. */
  #pause(): Promise<void> {
    this.#pauseImported ??= this.#importPause()
    this.#pauseImported.catch(() => {
      this.#pauseImported = undefined
    })
    return this.#pauseImported
  }

  async #importPause(): Promise<void> {
    const doing = 'import the image of the sandbox'
    try {
      await this.#client.json({ method: 'GET', path: `/images/${pauseImage}/json`, doing })
      return
    } catch (error) {
      // A missing image is the only reason to continue.
      if (!(error instanceof EngineError) || error.kind !== 'absent') throw error
    }
    const version = await this.#client.json({ method: 'GET', path: '/version', doing })
    const architecture = textAt(version, 'Arch')
    const program = pauseProgram(architecture)
    if (program === undefined) {
      throw new EngineError('refused', `there is no sandbox program for '${architecture}'`)
    }
    await this.#client.json({
      method: 'POST',
      kind: 'change',
      path: '/images/create',
      // The tag is part of `repo`: Podman 4.3 ignores `tag` at an import.
      query: { fromSrc: '-', repo: pauseImage, changes: 'ENTRYPOINT ["/pause"]' },
      upload: oneChunk(pauseRoot(program)),
      doing,
    })
  }
}

/** The tar stream for a volume; undefined when nothing is to be written. */
function uploadOf(
  volume: VolumeSpec,
  contents: GroupContents,
): AsyncIterable<Uint8Array> | undefined {
  switch (volume.kind) {
    case 'files':
      return oneChunk(
        writeTar(
          (contents.files?.get(volume.name) ?? []).map((file) => ({
            name: file.name,
            mode: volume.fileMode,
            bytes: file.bytes,
          })),
        ),
      )
    case 'archive':
      return contents.archives?.get(volume.name)?.()
    case 'empty':
    case 'host':
      return undefined
    default:
      return volume satisfies never
  }
}
