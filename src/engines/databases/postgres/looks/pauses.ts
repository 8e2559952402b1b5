/** Who is left alone for a while, and each time for longer. Whoever behaves for long enough afterwards is forgotten. */

const firstMilliseconds = 60_000
const longestMilliseconds = 3_600_000
const growth = 5

interface Pause {
  readonly count: number
  readonly isOver: boolean
  readonly timer: NodeJS.Timeout
}

export class Pauses {
  readonly #pauses = new Map<string, Pause>()

  has(key: string): boolean {
    return this.#pauses.get(key)?.isOver === false
  }

  begin(key: string): void {
    const before = this.#pauses.get(key)
    clearTimeout(before?.timer)
    const count = before?.count ?? 0
    const milliseconds = Math.min(firstMilliseconds * growth ** count, longestMilliseconds)
    const timer = setTimeout(() => this.#finish(key), milliseconds).unref()
    this.#pauses.set(key, { count: count + 1, isOver: false, timer })
  }

  end(): void {
    for (const { timer } of this.#pauses.values()) clearTimeout(timer)
    this.#pauses.clear()
  }

  #finish(key: string): void {
    const { count = 0 } = this.#pauses.get(key) ?? {}
    const timer = setTimeout(() => this.#pauses.delete(key), longestMilliseconds).unref()
    this.#pauses.set(key, { count, isOver: true, timer })
  }
}
