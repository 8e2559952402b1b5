/** Bars of progress as text, and what stands beside them. Pure. */

const barWidth = 24

/** `share` from 0 to 1; more and less are cut off. */
export function bar(share: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`
}

/** Time left: `40 s`, `12 min`, `3 h 20 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 120) return `${whole} s`
  const minutes = Math.round(whole / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Cut to the width of the terminal: a line that wraps would upset what is drawn over it. */
export function cutLine(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}
