/**
 * Whether the deployments above a nested one were canceled. Hundreds may be nested in one whose template has megabytes, and
 * each asks every other second: the answer about one parent is shared by all that ask within a second.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { Deployment } from '../../resources/deployments/model.ts'

const sharedMilliseconds = 1000
/** Parents that are remembered; all are forgotten beyond. */
const rememberedMax = 1000

type Nesting = NonNullable<Deployment['nesting']>
type Parent = Nesting['parent']

interface Seen {
  /** Undefined where another run has the id by now. */
  readonly parent: { readonly isCanceled: boolean; readonly above: Nesting | undefined } | undefined
}

export class Parents {
  readonly #reader: Pick<Reader, 'get'>
  readonly #clock: Clock
  readonly #seen = new Map<string, { readonly at: number; readonly answer: Promise<Seen> }>()

  constructor(reader: Pick<Reader, 'get'>, clock: Clock) {
    this.#reader = reader
    this.#clock = clock
  }

  /** At every level: none waits for the one above it to be looked at. */
  async isAnyCanceled({ nesting }: Pick<Deployment, 'nesting'>): Promise<boolean> {
    for (let at = nesting; at !== undefined; ) {
      const { parent } = await this.#look(at.parent)
      if (parent === undefined) return false
      if (parent.isCanceled) return true
      at = parent.above
    }
    return false
  }

  #look(parent: Parent): Promise<Seen> {
    const key = `${parent.run} ${parent.id.toLowerCase()}`
    const now = this.#clock.now()
    const known = this.#seen.get(key)
    if (known !== undefined && Math.abs(now - known.at) < sharedMilliseconds) return known.answer
    if (this.#seen.size >= rememberedMax) this.#seen.clear()
    const answer = this.#read(parent)
    this.#seen.set(key, { at: now, answer })
    answer.then(undefined, () => this.#seen.delete(key))
    return answer
  }

  async #read({ id, run }: Parent): Promise<Seen> {
    const found = await this.#reader.get(id)
    // Rows at ids of this type were made by its `toModel`.
    const model = found?.model as Deployment | undefined
    if (model?.run !== run) return { parent: undefined }
    const isCanceled = model.canceled === true || found?.state === 'Canceled'
    return { parent: { isCanceled, above: model.nesting } }
  }
}
