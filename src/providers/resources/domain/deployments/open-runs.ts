/**
 * The runs that this process has open. One may wait for hours, with a template of megabytes, and there may be hundreds: beyond
 * a bound those that nobody works on are closed, and are opened again from the store when they are looked at. It opens none.
 * Another process may go on with a run that is open here: what it recorded is newer, so the run is opened again.
 */

export interface OpenRun {
  readonly id: string
  /** It has ended, or is carried out elsewhere. */
  close(): void
}

/** Characters of the templates, arguments and plans of all open runs. */
const charactersMax = 32 * 1024 * 1024
/** Without news a run is looked at as often: all of its record is read for that. */
const waitSecondsMin = 2
const charactersPerSecond = 32 * 1024

/** News may be lost, and those of another replica never come: how long is waited without any. */
export function waitSecondsOf(characters: number): number {
  return waitSecondsMin + Math.floor(characters / charactersPerSecond)
}

interface Opened<R> {
  readonly run: R
  /** Of its template and arguments. */
  readonly characters: number
  /** What its plan takes besides: a short template can make a large one. */
  readonly held?: number
}

interface Kept<R> extends Opened<R> {
  /** How many work on it. */
  users: number
}

export class OpenRuns<R extends OpenRun> {
  /** The one that was used last is the last. */
  readonly #runs = new Map<string, Kept<R>>()
  #characters = 0
  /** Of all that have not ended, those that were closed meanwhile among them. */
  readonly #sizes = new Map<string, number>()
  /** How far they were when they were recorded here, likewise. */
  readonly #recorded = new Map<string, string>()

  /** 0 for one that was never opened here. */
  charactersOf(key: string): number {
    return this.#sizes.get(key) ?? 0
  }

  /** Works on the run with this id, which is opened where it is not. */
  async use<T>(
    key: string,
    id: string,
    open: () => Promise<Opened<R>>,
    work: (run: R) => Promise<T>,
  ): Promise<T> {
    const known = this.#runs.get(key)
    const one: Kept<R> = known?.run.id === id ? known : { ...(await open()), users: 0 }
    if (one === known) this.#runs.delete(key)
    else {
      this.#close(key)
      this.#characters += one.characters + (one.held ?? 0)
      this.#sizes.set(key, one.characters)
    }
    this.#runs.set(key, one)
    one.users++
    try {
      return await work(one.run)
    } finally {
      one.users--
      this.#closeIdle()
    }
  }

  /** What this process is about to record of it. */
  record(key: string, mark: string): void {
    if (this.#runs.has(key)) this.#recorded.set(key, mark)
  }

  /** Closes the run with this id where the record is not what this process recorded last. */
  closeUnless(key: string, id: string, mark: string): void {
    const one = this.#runs.get(key)
    if (one?.run.id === id && this.#recorded.get(key) !== mark) this.#close(key)
  }

  /** It has ended, or is carried out elsewhere. */
  end(key: string): void {
    this.#sizes.delete(key)
    this.#recorded.delete(key)
    this.#close(key)
  }

  /** The store has another state, in which they may not be as far. */
  clear(): void {
    for (const key of [...this.#sizes.keys(), ...this.#runs.keys()]) this.end(key)
  }

  #close(key: string): void {
    const one = this.#runs.get(key)
    if (one === undefined) return
    this.#runs.delete(key)
    this.#characters -= one.characters + (one.held ?? 0)
    one.run.close()
  }

  #closeIdle(): void {
    for (const [key, { users }] of this.#runs) {
      if (this.#characters <= charactersMax) return
      if (users === 0) this.#close(key)
    }
  }
}
