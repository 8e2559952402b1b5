/**
 * What one writer knows of its own resources: for each path, the possible values after all that was answered and
 * all that was not. Pure; sends nothing.
 */

/** No resource. */
export const absent = 'absent'
/** A group that was created by a write below it. */
export const implied = 'implied'
/** A group whose deletion was accepted. */
export const going = 'going'

/** `absent`, `implied`, `going`, or the correlation id that is the resource's content. */
export type Value = string

export class GroupModel {
  readonly path: string
  readonly assignments: readonly string[]
  readonly #possible = new Map<string, Set<Value>>()
  /** A deletion was sent and not answered. Nothing is sent here until its outcome is known. */
  isUnknown = false

  constructor(path: string, assignments: readonly string[]) {
    this.path = path
    this.assignments = assignments
    for (const one of [path, ...assignments]) this.#possible.set(one, new Set([absent]))
  }

  possible(path: string): ReadonlySet<Value> {
    return this.#possible.get(path) ?? new Set([absent])
  }

  may(path: string, ...values: readonly Value[]): boolean {
    return values.some((value) => this.possible(path).has(value))
  }

  /** Whether something may exist, whatever its content. */
  mayExist(path: string): boolean {
    return [...this.possible(path)].some((value) => value !== absent)
  }

  /** A read or a check has settled the value. */
  settle(path: string, value: Value): void {
    this.#possible.set(path, new Set([value]))
  }

  allow(path: string, value: Value): void {
    this.#possible.set(path, new Set([...this.possible(path), value]))
  }

  /** The group was written and answered, so any earlier deletion has ended. */
  groupWritten(correlationId: string, created: boolean): void {
    this.settle(this.path, correlationId)
    if (created) this.emptied()
  }

  groupDeleted(): void {
    this.settle(this.path, going)
    this.allow(this.path, absent)
    for (const one of this.assignments) this.allow(one, absent)
  }

  /** The group and everything in it are gone. */
  groupGone(): void {
    this.settle(this.path, absent)
    this.emptied()
  }

  deletionUnknown(): void {
    this.isUnknown = true
    this.allow(this.path, absent)
    this.allow(this.path, going)
    for (const one of this.assignments) this.allow(one, absent)
  }

  assignmentWritten(path: string, correlationId: string): void {
    const group = this.possible(this.path)
    if (group.has(going)) {
      // A group that is being deleted takes no writes, so it was gone and is a new one.
      this.groupGone()
      this.settle(this.path, implied)
    } else if (group.has(absent)) {
      const rest = [...group].filter((value) => value !== absent)
      this.#possible.set(this.path, new Set([...rest, implied]))
    }
    this.settle(path, correlationId)
  }

  assignmentUnknown(path: string, correlationId: string): void {
    if (this.may(this.path, absent, going)) this.allow(this.path, implied)
    this.allow(path, correlationId)
  }

  /** Whether a reader with these assignments alone is allowed, if that is certain. */
  get grants(): boolean | undefined {
    if (this.isUnknown || this.may(this.path, going)) return undefined
    const sets = this.assignments.map((one) => this.possible(one))
    if (sets.some((set) => !set.has(absent))) return true
    return sets.every((set) => set.size === 1) ? false : undefined
  }

  private emptied(): void {
    for (const one of this.assignments) this.settle(one, absent)
  }
}
