/** Work under way at once. Waiting for the next of many ends costs the same however many there are. */

export class AtOnce {
  #size = 0
  #ended: (() => void) | undefined
  #failure: { readonly error: unknown } | undefined

  get size(): number {
    return this.#size
  }

  add(work: Promise<void>): void {
    this.#size++
    const end = (): void => {
      this.#size--
      this.#ended?.()
    }
    work.then(end, (error: unknown) => {
      this.#failure ??= { error }
      end()
    })
  }

  /** Resolves when one more has ended. Throws what any of them has thrown. */
  async next(): Promise<void> {
    if (this.#failure === undefined && this.#size > 0) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve
      })
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
