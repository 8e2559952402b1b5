/**
 * Computes how far the target is behind, in time, without writing to the source. It remembers the position of the
 * source's log at each second, and finds the oldest position not yet confirmed (facts A.5).
 */

interface LogPosition {
  readonly at: number
  readonly lsn: bigint
}

/** Above this every second position is dropped; a long lag is then less exact. */
const positionsMax = 4096

/** `16/B374D848` as a number. */
export function parseLsn(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export class Lag {
  private positions: LogPosition[] = []

  /** `at` in milliseconds; both values only grow. */
  push(at: number, lsn: bigint): void {
    const last = this.positions.at(-1)
    if (last !== undefined && last.lsn >= lsn) return
    this.positions.push({ at, lsn })
    if (this.positions.length > positionsMax) {
      this.positions = this.positions.filter((_, index) => index % 2 === 0)
    }
  }

  /** Seconds since the source's log passed the first unconfirmed position; 0 when everything is confirmed. */
  seconds(now: number, confirmed: bigint): number {
    const first = this.positions.findIndex(({ lsn }) => lsn > confirmed)
    if (first < 0) {
      this.positions = this.positions.slice(-1)
      return 0
    }
    this.positions = this.positions.slice(first)
    const oldest = this.positions[0]
    return oldest === undefined ? 0 : Math.max(0, (now - oldest.at) / 1000)
  }
}
