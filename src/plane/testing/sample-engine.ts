/**
 * A small real engine for the plane's tests: it holds named parts, takes steps that may fail on demand, and outlives
 * the plane that uses it, as real engines do.
 */

export class SampleEngineFailure extends Error {}

export class SampleEngine {
  readonly parts = new Map<string, Set<string>>()
  /** Every step performed, in order. Tests read from it that no step ran twice. */
  readonly journal: string[] = []
  /** How many of the next calls fail. */
  failures = 0
  /** Parts that cannot be made. */
  readonly forbidden = new Set<string>()

  look(name: string): readonly string[] {
    this.mayFail()
    return [...(this.parts.get(name) ?? [])]
  }

  async make(name: string, part: string): Promise<void> {
    this.mayFail()
    await Promise.resolve()
    const parts = this.parts.get(name) ?? new Set<string>()
    parts.add(part)
    this.parts.set(name, parts)
    this.journal.push(`make ${name} ${part}`)
  }

  async unmake(name: string, part: string): Promise<void> {
    this.mayFail()
    await Promise.resolve()
    const parts = this.parts.get(name)
    parts?.delete(part)
    if (parts?.size === 0) this.parts.delete(name)
    this.journal.push(`unmake ${name} ${part}`)
  }

  private mayFail(): void {
    if (this.failures > 0) {
      this.failures--
      throw new SampleEngineFailure('the engine is away')
    }
  }
}
