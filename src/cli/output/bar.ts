/** Progress bars as text, and the texts beside them. Pure. */

const barWidth = 24

/** `share` is from 0 to 1; other values are clamped. */
export function bar(share: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`
}

/** The remaining time: `40 s`, `12 min`, `3 h 20 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 120) return `${whole} s`
  const minutes = Math.round(whole / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Cuts a line to the terminal's width: a wrapped line would break the drawing. */
export function cutLine(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}
