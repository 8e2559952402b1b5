/**
 * Inspects containers before a caller's program runs in them, and removes a whole group if one differs from the
 * spec (`verify.ts`), together with volumes the engine created for it.
 */

import { EngineError, type GroupSpec } from '../engine.ts'
import { entriesAt, type Json, listAt, textAt, timeAt } from '../json.ts'
import { mountPathProblem, plainPath } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { accountsSource, ownFiles, readyProblem } from './host-side.ts'
import { annotationsProblem } from './inspect-image.ts'
import { containerName, type Names, sandboxName } from './names.ts'
import { inspectContainer } from './read-containers.ts'
import { atOnce, someAtOnce } from './some-at-once.ts'
import type { Dialect } from './to-docker.ts'
import {
  differences,
  type Expected,
  expectedContainer,
  expectedSandbox,
  unaskedPaths,
} from './verify.ts'

export class Verifier {
  readonly #client: DockerClient
  readonly #removeGroup: (group: string) => Promise<void>

  constructor(client: DockerClient, removeGroup: (group: string) => Promise<void>) {
    this.#client = client
    this.#removeGroup = removeGroup
  }

  async sandbox(
    names: Names,
    spec: GroupSpec,
    dialect: Dialect,
    network: string | undefined,
  ): Promise<void> {
    const container = await this.#inspect(sandboxName(names), dialect)
    const expected = expectedSandbox(names, spec, network)
    const found = await this.#differences(expected, container, dialect)
    if (found.length > 0) await this.#refuse(names, [container], found)
  }

  /** Verifies the named parts. */
  async parts(
    names: Names,
    spec: GroupSpec,
    wanted: readonly string[],
    dialect: Dialect,
  ): Promise<void> {
    const sandbox = await this.#inspect(sandboxName(names), dialect)
    await this.requirePresent(names, sandbox)
    const joined = [sandboxName(names), textAt(sandbox, 'Id')]
    const parts = spec.parts.filter((part) => wanted.includes(part.name))
    const found = await someAtOnce(parts, atOnce.questions, async (part) => {
      const container = await this.#inspect(containerName(names, part.name), dialect)
      const files = ownFiles(sandbox, spec, part, dialect.api)
      const expected = expectedContainer(names, spec, part, { sandbox: joined, files })
      const differences = await this.#differences(expected, container, dialect)
      return { container, differences: differences.map((one) => `'${part.name}': ${one}`) }
    })
    const containers = found.map((each) => each.container)
    const differences = found.flatMap((each) => each.differences)
    if (differences.length > 0 && differences.every((one) => ofEarlierVersion.test(one))) {
      await this.#makeAnew(names)
    }
    if (differences.length > 0) await this.#refuse(names, containers, differences)
    if (dialect.api !== 'libpod') return
    const changed = containers.map(ownAnnotationsProblem).find((one) => one !== undefined)
    if (changed !== undefined) {
      await this.#remove(names, containers)
      throw new EngineError('busy', `the image of a container has changed: ${changed}`)
    }
    const problems = await someAtOnce(containers, atOnce.changes, (each) =>
      readyProblem(this.#client, each),
    )
    const problem = problems.find((one) => one !== undefined)
    if (problem === undefined) return
    await this.#remove(names, containers)
    throw new EngineError('refused', `it was not started, and its group was removed: ${problem}`)
  }

  /** Removes a group that an earlier version has made, without copies of accounts, and throws `busy`: it is made anew then. */
  async requirePresent(names: Names, sandbox: Json): Promise<void> {
    if (accountsSource(sandbox) === '') await this.#makeAnew(names)
  }

  async #makeAnew(names: Names): Promise<never> {
    await this.#removeGroup(names.group)
    throw new EngineError('busy', 'the group was made by an earlier version, and is made anew')
  }

  async remove(names: Names): Promise<void> {
    await this.#removeGroup(names.group)
  }

  async #inspect(name: string, { api }: Dialect): Promise<Json> {
    return await inspectContainer(this.#client, name, { api })
  }

  async #differences(
    expected: Expected,
    container: Json,
    { api }: Dialect,
  ): Promise<readonly string[]> {
    // Podman is told to make none. Images rarely declare volumes, so this is rarely called.
    const isAsAsked = api === 'libpod' || unaskedPaths(expected, container).length === 0
    const declared = isAsAsked ? [] : await this.#imageVolumes(container)
    return differences(expected, container, new Set(declared))
  }

  /** The paths at which an image declares a volume. The engine creates one without a name for each. */
  async #imageVolumes(container: Json): Promise<readonly string[]> {
    const path = `/images/${encodeURIComponent(textAt(container, 'Image'))}/json`
    const image = await this.#client.json({ method: 'GET', path, doing: 'inspect an image' })
    return entriesAt(image, 'Config', 'Volumes')
      .filter(([declared]) => mountPathProblem(declared) === undefined)
      .map(([declared]) => plainPath(declared))
  }

  async #refuse(
    names: Names,
    containers: readonly Json[],
    found: readonly string[],
  ): Promise<never> {
    await this.#remove(names, containers)
    throw new EngineError(
      'refused',
      `the engine made something else than was asked for, and it was removed: ${found.slice(0, 5).join('; ')}`,
    )
  }

  async #remove(names: Names, containers: readonly Json[]): Promise<void> {
    await this.#removeGroup(names.group)
    for (const container of containers) await this.#removeStrayVolumes(container)
  }

  /** Removes unnamed volumes created with the container. An older or a labelled one belongs to somebody else. */
  async #removeStrayVolumes(container: Json): Promise<void> {
    const since = timeAt(container, 'Created') ?? Number.POSITIVE_INFINITY
    const names = listAt(container, 'Mounts').map((mount) => textAt(mount, 'Name'))
    for (const name of new Set(names.filter(Boolean))) {
      const path = `/volumes/${encodeURIComponent(name)}`
      const call = { path, doing: 'remove a volume that nobody asked for' } as const
      try {
        const volume = await this.#client.json({ method: 'GET', ...call })
        // Volume times are in whole seconds.
        const isNew = (timeAt(volume, 'CreatedAt') ?? 0) >= since - 1000
        const isBare = entriesAt(volume, 'Labels').length === 0
        if (isNew && isBare) await this.#client.json({ method: 'DELETE', ...call })
      } catch (error) {
        // It was removed with its container, or another container uses it.
        if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error
      }
    }
  }
}

/** Earlier versions left containers the capability that engines give them. */
const ofEarlierVersion = /: it (?:has|keeps) the capability NET_RAW$/

/** Annotations that Podman gives every container. It writes its own over those of an image. */
const ofPodman = /^io\.(?:podman\.annotations\.|container\.manager$|kubernetes\.cri-o\.Created$)/

/**
 * What is wrong with the annotations that a container got from its image, whatever that image has since. Made anew, the group gets
 * its own image again: somebody else pulled the same one with annotations.
 */
function ownAnnotationsProblem(container: Json): string | undefined {
  const found = entriesAt(container, 'Config', 'Annotations').filter(
    ([name]) => !ofPodman.test(name),
  )
  return annotationsProblem({ Annotations: Object.fromEntries(found) })
}
