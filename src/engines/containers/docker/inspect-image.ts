/**
 * Reads what an image says of itself. Whoever made the image wrote it: its labels and its environment are in every
 * inspection, list and event of its containers, so an image that says too much is not run.
 */

import { readAnswer } from '../answer.ts'
import { EngineError } from '../engine.ts'
import { entriesAt, type Json } from '../json.ts'
import { mountPathProblem } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { pathOf } from './names.ts'

/** Images as they are published stay far below this. */
const descriptionBytesMax = 128 * 1024
/** Engines make a volume for each path that an image declares. Podman has 2,048 for everybody, containers included. */
const volumesMax = 32

/**
 * Throws `absent` for an image that is not there, and `refused` for one that says too much, or declares volumes that a group
 * may not have.
 */
export async function inspectImage(
  client: DockerClient,
  reference: string,
  doing: string,
): Promise<Json> {
  const path = `/images/${pathOf(reference)}/json`
  const response = await client.stream({ method: 'GET', path, doing })
  const image = await readAnswer(response, `${doing}: its labels and settings`, {
    bytesMax: descriptionBytesMax,
    kind: 'refused',
  })
  const problem = volumesProblem(entriesAt(image, 'Config', 'Volumes').map(([path]) => path))
  if (problem !== undefined) throw new EngineError('refused', `${doing}: ${problem}`)
  return image
}

function volumesProblem(declared: readonly string[]): string | undefined {
  if (declared.length > volumesMax) return `it declares more than ${volumesMax} volumes`
  for (const path of declared) {
    const problem = mountPathProblem(path)
    if (problem !== undefined) {
      return `it declares a volume at ${JSON.stringify(path.slice(0, 200))}: ${problem}`
    }
  }
  return undefined
}
