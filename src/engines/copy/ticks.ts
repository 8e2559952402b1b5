/** Milliseconds that pass in the process that copies: only for pacing (how often to write down, to breathe). */

export function ticks(): number {
  return performance.now()
}
