/**
 * Creates the volumes, the sandbox, the file contents and the parts of a group on a Docker API, and keeps what an
 * interrupted attempt made. It starts only the sandbox. It removes the containers out of which it reads an image, and a group whose image is refused.
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
import { entriesAt, type Json, textAt, timeAt } from '../json.ts'
import type { DockerClient } from './client.ts'
import {
  accountsFolder,
  accountsSource,
  copiedAccounts,
  ownFiles,
  type Unstarted,
} from './host-side.ts'
import { mountProblem, requireApart } from './mount-places.ts'
import { type Names, pathOf, sandboxName } from './names.ts'
import { labelOf } from './observation.ts'
import { pauseImage, pauseProgram, pauseRoot } from './pause-image.ts'
import { inspectContainer } from './read-containers.ts'
import { profileName, SeccompSource } from './seccomp.ts'
import { atOnce, someAtOnce } from './some-at-once.ts'
import { writeTar } from './tar.ts'
import {
  accountsBody,
  type Creation,
  type Dialect,
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

/** What an engine says of an image. */
interface Seen {
  readonly image: string
  readonly workingFolder: string
  /** Paths at which the engine makes volumes for it. */
  readonly declared: readonly string[]
}

/** What was copied of an image for the parts that are made of it. */
interface Copied {
  /** Whether it has the folder of accounts. */
  readonly hasFolder: boolean
  readonly hasProfile: boolean
}

export class GroupCreator {
  readonly #client: DockerClient
  readonly #verifier: Verifier
  readonly #seccomp: SeccompSource
  #pauseImported: Promise<void> | undefined

  constructor(client: DockerClient, verifier: Verifier) {
    this.#client = client
    this.#verifier = verifier
    this.#seccomp = new SeccompSource(client)
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
      await someAtOnce(spec.volumes, atOnce.changes, (volume) => this.#fill(creation, volume))
    }
    const material = await this.#hostSide(creation, missing)
    await someAtOnce(missing, atOnce.changes, async (part) => {
      const secrets = contents.environment?.get(part.name) ?? new Map()
      const given = { secrets, ...material(part) }
      await this.#container(creation, dialect.part(names, spec, part, given))
    })
  }

  /** What each missing part gets beside its spec. */
  async #hostSide(creation: GroupCreation, missing: readonly ContainerSpec[]) {
    const { names, spec, dialect } = creation
    const { api } = dialect
    // One part of each image. One after the other, so that no more than one image's accounts are in memory.
    const ofImage = new Map(missing.map((part) => [part.image, part]))
    const found = new Map<string, Seen & Copied>()
    for (const part of ofImage.values()) {
      const seen = await this.#seen(part.image, dialect)
      found.set(part.image, { ...seen, ...(await this.#copyFiles(creation, part, seen)) })
    }
    const sandbox = await inspectContainer(this.#client, sandboxName(names), { api })
    const folder = accountsSource(sandbox)
    return (part: ContainerSpec) => {
      // Every part for which this is asked has an image that was seen.
      const bare = { image: '', workingFolder: '/', hasFolder: false, hasProfile: false }
      const { image, workingFolder, hasFolder, hasProfile } = found.get(part.image) ?? bare
      const files = ownFiles(sandbox, spec, part, api)
      const profile = hasProfile ? { profile: posix.join(folder, profileName) } : {}
      return { image, workingFolder, hasFolder, files, ...profile }
    }
  }

  /**
   * Fills the volume of accounts for an image, and answers what it has. Removes the group where its files are refused.
   */
  async #copyFiles(
    { names, spec, dialect }: GroupCreation,
    part: ContainerSpec,
    { image, declared }: Seen,
  ): Promise<Copied> {
    const { api } = dialect
    const engineFolder = api === 'libpod' ? await this.#seccomp.folder() : undefined
    const { name, ...call } = dialect.unstarted(names, part, { image, engineFolder })
    const doing = `read the accounts of the image '${part.image}'`
    const change = { kind: 'change', api, doing } as const
    const made = await this.#client.json({
      ...change,
      method: 'POST',
      path: '/containers/create',
      ...call,
    })
    const from = { client: this.#client, api, container: name, image: part.image }
    const hasEngine = engineFolder !== undefined
    const [copied] = await Promise.allSettled([this.#read(from, spec, { declared, hasEngine })])
    // By its id: whoever makes the group anew meanwhile gives the name to another one.
    const [removed] = await Promise.allSettled([
      this.#client.json({
        ...change,
        method: 'DELETE',
        path: `/containers/${textAt(made, 'Id')}`,
        query: { force: 'true', v: 'true' },
      }),
    ])
    if (copied.status === 'rejected') {
      const error: unknown = copied.reason
      if (error instanceof EngineError && error.kind === 'refused')
        await this.#verifier.remove(names)
      throw error
    }
    if (removed.status === 'rejected') {
      throw new EngineError('busy', `${doing}: ${String(removed.reason)}`)
    }
    const { entries, hasFolder, profile } = copied.value
    const all = profile === undefined ? entries : [...entries, profile]
    await this.#upload(names, accountsFolder, oneChunk(writeTar(all)), doing)
    return { hasFolder, hasProfile: profile !== undefined }
  }

  /** `hasEngine`: whether the container has the engine's folder with the profile. */
  async #read(
    from: Unstarted,
    spec: GroupSpec,
    { declared, hasEngine }: Pick<Seen, 'declared'> & { readonly hasEngine: boolean },
  ) {
    for (const { name, image, mounts } of spec.parts) {
      if (image !== from.image) continue
      const paths = [...mounts.map((mount) => mount.path), ...declared]
      requireApart({ name, mounts }, spec, declared)
      const problem = await mountProblem(from, paths)
      if (problem !== undefined) throw new EngineError('refused', `'${name}': ${problem}`)
    }
    const accounts = await copiedAccounts(from, spec)
    const profile = hasEngine ? await this.#seccomp.profile(from) : undefined
    return { ...accounts, profile }
  }

  /** The id of an image, whose name may get another one meanwhile, and what it says. */
  async #seen(name: string, { api }: Dialect): Promise<Seen> {
    const path = `/images/${pathOf(name)}/json`
    const doing = `inspect the image '${name}'`
    const found = await this.#client.json({ method: 'GET', api, path, doing })
    return {
      image: textAt(found, 'Id'),
      workingFolder: posix.join('/', textAt(found, 'Config', 'WorkingDir')),
      // Podman is told to make none.
      declared: api === 'docker' ? entriesAt(found, 'Config', 'Volumes').map(([path]) => path) : [],
    }
  }

  async #makeSandbox(creation: GroupCreation, existing: Json): Promise<void> {
    const { names, spec, dialect, network } = creation
    if (timeAt(existing, 'State', 'FinishedAt') !== undefined) {
      throw new EngineError('busy', 'the ended sandbox must be removed first')
    }
    if (existing !== undefined) await this.#verifier.requirePresent(names, existing)
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
    const [verified] = await Promise.allSettled([
      this.#verifier.sandbox(names, spec, dialect, network),
    ])
    if (verified.status === 'rejected') {
      const error: unknown = verified.reason
      if (existing === undefined || !(error instanceof EngineError) || error.kind !== 'refused') {
        throw error
      }
      // An interrupted attempt made it, for which the engine chose a host port, as an example.
      throw new EngineError('busy', 'the group was begun otherwise, and is made anew', {
        cause: error,
      })
    }
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
