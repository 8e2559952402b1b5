/**
 * Reads what an image says of itself. Whoever made the image wrote it: its labels and its environment are in every
 * inspection, list and event of its containers, so an image that says too much is not run.
 */

import { readAnswer } from '../answer.ts'
import type { Json } from '../json.ts'
import type { DockerClient } from './client.ts'
import { pathOf } from './names.ts'

/** Images as they are published stay far below this. */
const descriptionBytesMax = 128 * 1024

/** Throws `absent` for an image that is not there, and `refused` for one that says too much. */
export async function inspectImage(
  client: DockerClient,
  image: string,
  doing: string,
): Promise<Json> {
  const path = `/images/${pathOf(image)}/json`
  const response = await client.stream({ method: 'GET', path, doing })
  return readAnswer(response, `${doing}: its labels and settings`, {
    bytesMax: descriptionBytesMax,
    kind: 'refused',
  })
}
