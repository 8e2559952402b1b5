/**
 * Looks at containers before anything of a caller runs in them, and takes a whole group away where one is not
 * what was asked for (`verify.ts`), with the volumes that came with it.
 */

import { EngineError, type GroupSpec } from '../engine.ts'
import { entriesAt, type Json, listAt, textAt, timeAt } from '../json.ts'
import { plainPath } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { type Names, partName, sandboxName } from './names.ts'
import type { Dialect } from './to-docker.ts'
import {
  differences,
  type Expected,
  expectedPart,
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
    const found = await this.#differences(expectedSandbox(names, spec, network), container)
    if (found.length > 0) await this.#refuse(names, [container], found)
  }

  /** Verifies the parts called `wanted`. */
  async parts(
    names: Names,
    spec: GroupSpec,
    wanted: readonly string[],
    dialect: Dialect,
  ): Promise<void> {
    const sandbox = await this.#inspect(sandboxName(names), dialect)
    const known = [sandboxName(names), textAt(sandbox, 'Id')]
    const found = await Promise.all(
      spec.parts
        .filter((part) => wanted.includes(part.name))
        .map(async (part) => {
          const container = await this.#inspect(partName(names, part.name), dialect)
          const expected = expectedPart(names, spec, part, known)
          const told = await this.#differences(expected, container)
          return { container, told: told.map((one) => `'${part.name}': ${one}`) }
        }),
    )
    const told = found.flatMap((each) => each.told)
    if (told.length === 0) return
    await this.#refuse(
      names,
      found.map((each) => each.container),
      told,
    )
  }

  async #inspect(name: string, { api }: Dialect): Promise<Json> {
    const path = `/containers/${name}/json`
    return await this.#client.json({ method: 'GET', api, path, doing: 'inspect a container' })
  }

  async #differences(expected: Expected, container: Json): Promise<readonly string[]> {
    // Seldom there, so seldom asked for.
    const declared =
      unaskedPaths(expected, container).length === 0 ? [] : await this.#imageVolumes(container)
    return differences(expected, container, new Set(declared))
  }

  /** The paths at which an image declares a volume: the engine makes one for each, without a name. */
  async #imageVolumes(container: Json): Promise<readonly string[]> {
    const path = `/images/${encodeURIComponent(textAt(container, 'Image'))}/json`
    const image = await this.#client.json({ method: 'GET', path, doing: 'inspect an image' })
    return entriesAt(image, 'Config', 'Volumes').map(([declared]) => plainPath(declared))
  }

  async #refuse(
    names: Names,
    containers: readonly Json[],
    found: readonly string[],
  ): Promise<never> {
    await this.#removeGroup(names.group)
    for (const container of containers) await this.#removeStrayVolumes(container)
    throw new EngineError(
      'refused',
      `the engine made something else than was asked for, and it was removed: ${found.slice(0, 5).join('; ')}`,
    )
  }

  /** Volumes that came with the container and are nobody's. One that is older, or labelled, is somebody's. */
  async #removeStrayVolumes(container: Json): Promise<void> {
    const since = timeAt(container, 'Created') ?? Number.POSITIVE_INFINITY
    const names = listAt(container, 'Mounts').map((mount) => textAt(mount, 'Name'))
    for (const name of new Set(names.filter(Boolean))) {
      const path = `/volumes/${encodeURIComponent(name)}`
      const call = { path, doing: 'remove a volume that nobody asked for' } as const
      try {
        const volume = await this.#client.json({ method: 'GET', ...call })
        // Times of volumes are told in whole seconds.
        const isNew = (timeAt(volume, 'CreatedAt') ?? 0) >= since - 1000
        const isBare = entriesAt(volume, 'Labels').length === 0
        if (isNew && isBare) await this.#client.json({ method: 'DELETE', ...call })
      } catch (error) {
        // Gone with its container already, or in use by another one.
        if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error
      }
    }
  }
}
