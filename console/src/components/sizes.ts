/** Sizes and durations in a form that a person reads. */

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

export function sizeText(bytes: number): string {
  const step =
    bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), units.length - 1)
  const value = bytes / 1024 ** step
  return `${value.toLocaleString(undefined, { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`
}

export function spanText(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 60) {
    return `${seconds.toLocaleString(undefined, { maximumFractionDigits: seconds < 10 ? 2 : 0 })} s`
  }
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
