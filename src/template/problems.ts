/** Collects the problems of a template with their positions, without duplicates. */

import type { Position, TemplateProblem } from './plan.ts'
import { formatPath, type TemplatePath } from './template-path.ts'

/** Finds the position of a path in the text; `within` counts the characters of a string's value. */
export type Locate = (path: TemplatePath | undefined, within?: number) => Position

/** A template given as an object has no text, so a problem only has a path. */
export const pathsOnly: Locate = (path) => ({ line: 0, column: 0, path: formatPath(path) })

const problemsMax = 100

export class Problems {
  readonly locate: Locate
  readonly #found = new Map<string, TemplateProblem>()

  constructor(locate: Locate) {
    this.locate = locate
  }

  add(path: TemplatePath | undefined, message: string, within?: number): void {
    if (this.#found.size >= problemsMax) return
    const position = this.locate(path, within)
    this.#found.set(`${position.path} ${message}`, { ...position, message })
  }

  get list(): readonly TemplateProblem[] {
    return [...this.#found.values()]
  }

  get isEmpty(): boolean {
    return this.#found.size === 0
  }
}
