/**
 * Reads what an image says of itself. Whoever made the image wrote it: its labels and its environment are in every
 * inspection, list and event of its containers, so an image that says too much is not run.
 */

import { readAnswer } from '../answer.ts'
import { EngineError } from '../engine.ts'
import { at, entriesAt, type Json } from '../json.ts'
import { mountPathProblem } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { pathOf } from './names.ts'

/** Images as they are published stay far below this. */
const descriptionBytesMax = 128 * 1024
/** Podman's own answer has the commands that made the image besides. */
const answerBytesMax = 1024 * 1024
/** Engines make a volume for each path that an image declares. Podman has 2,048 for everybody, containers included. */
const volumesMax = 32

/**
 * Names of annotations that engines, runtimes, clusters and their hooks act on: Podman gives them to the runtime. A name is a
 * reversed domain by the specification of images; one without a dot is `bundle`, by which runtimes find their files.
 */
const actedOn =
  /^(?:run\.oci|org\.systemd|org\.criu|org\.libcrun|org\.freedesktop|io\.podman|io\.containers?|io\.crun|io\.kubernetes|io\.cri-?o|io\.katacontainers|dev\.gvisor|module\.wasm|com\.nvidia|nvidia|cdi)\.|^[^.]*$|\//

/** How an image is looked at: by which API, and what an error says of it. */
interface Look {
  readonly api: 'docker' | 'libpod'
  readonly doing: string
}

/**
 * Throws `absent` for an image that is not there, and `refused` for one that says too much, declares volumes that a group may
 * not have, or has annotations that something acts on. Images of one id share them, whoever pulled last.
 */
export async function inspectImage(
  client: DockerClient,
  reference: string,
  { api, doing }: Look,
): Promise<Json> {
  const path = `/images/${pathOf(reference)}/json`
  const response = await client.stream({ method: 'GET', api, path, doing })
  const image = await readAnswer(response, `${doing}: its labels and settings`, {
    bytesMax: api === 'libpod' ? answerBytesMax : descriptionBytesMax,
    kind: 'refused',
  })
  const problem = imageProblem(image)
  if (problem !== undefined) throw new EngineError('refused', `${doing}: ${problem}`)
  return image
}

/** What is wrong with an image as an engine describes it; undefined when nothing is. */
function imageProblem(image: Json): string | undefined {
  const said = JSON.stringify([at(image, 'Config') ?? null, at(image, 'Annotations') ?? null])
  if (said.length > descriptionBytesMax) {
    return `its labels and settings are longer than ${descriptionBytesMax / 1024} KB`
  }
  const declared = entriesAt(image, 'Config', 'Volumes').map(([path]) => path)
  return volumesProblem(declared) ?? annotationsProblem(image)
}

/** What is wrong with the annotations of an image, or with the settings of a container; undefined when nothing is. */
export function annotationsProblem(found: Json): string | undefined {
  const name = entriesAt(found, 'Annotations')
    .map(([one]) => one)
    .find((one) => actedOn.test(one))
  return name === undefined
    ? undefined
    : `it has the annotation ${JSON.stringify(name.slice(0, 200))}, which engines and runtimes act on`
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
