/**
 * Converts times between two clocks. The OAuth library reads the machine's clock; everything else uses the
 * installation's, which may have been moved. What the library issues or has stored is in the installation's time.
 */

import type { Clock } from '#kernel/ports.ts'

/** The claims that hold moments, in seconds since 1970. */
const moments = ['iat', 'exp', 'nbf', 'loginTs', 'authTime', 'consumed'] as const

type Payload = Readonly<Record<string, unknown>>

export interface LibraryTime {
  /** Converts what the library made. */
  toInstallation(payload: Payload): Payload
  /** Converts what the library is about to read. */
  toLibrary(payload: Payload): Payload
}

export function createLibraryTime(clock: Clock, libraryClock: Clock): LibraryTime {
  // Two readings of one clock may differ by a moment, so the difference is rounded to a second.
  const ahead = (): number => Math.round((clock.now() - libraryClock.now()) / 1000)
  return {
    toInstallation: (payload) => shift(payload, ahead()),
    toLibrary: (payload) => shift(payload, -ahead()),
  }
}

function shift(payload: Payload, seconds: number): Payload {
  if (seconds === 0) return payload
  const shifted: Record<string, unknown> = { ...payload }
  for (const name of moments) {
    const value = payload[name]
    if (typeof value === 'number') shifted[name] = value + seconds
  }
  return shifted
}
