/**
 * How far the target is behind, in time, without a write on the source: remembers where the source's log
 * stood at each second, and finds the oldest place not yet confirmed (facts A.5).
 */

interface Place {
  readonly at: number
  readonly lsn: bigint
}

/** Above this every second place is forgotten: a long lag is told a little coarser. */
const placesMax = 4096

/** `16/B374D848` as a number. */
export function parseLsn(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export class Lag {
  private places: Place[] = []

  /** `at` in milliseconds; both only ever grow. */
  push(at: number, lsn: bigint): void {
    const last = this.places.at(-1)
    if (last !== undefined && last.lsn >= lsn) return
    this.places.push({ at, lsn })
    if (this.places.length > placesMax) {
      this.places = this.places.filter((_, index) => index % 2 === 0)
    }
  }

  /** Seconds since the source's log passed the first place that is not confirmed; 0 when all is. */
  seconds(now: number, confirmed: bigint): number {
    const first = this.places.findIndex(({ lsn }) => lsn > confirmed)
    if (first < 0) {
      this.places = this.places.slice(-1)
      return 0
    }
    this.places = this.places.slice(first)
    const oldest = this.places[0]
    return oldest === undefined ? 0 : Math.max(0, (now - oldest.at) / 1000)
  }
}
