/**
 * Times between the two clocks of the sign-in: the OAuth library reads the machine's, everything else goes by the
 * installation's, which may have been moved. What the library hands out or has kept is in the installation's time.
 */

import type { Clock } from '#kernel/ports.ts'

/** What the library puts moments into, in seconds since 1970. */
const moments = ['iat', 'exp', 'nbf', 'loginTs', 'authTime', 'consumed'] as const

type Payload = Readonly<Record<string, unknown>>

export interface LibraryTime {
  /** Of what the library made. */
  toInstallation(payload: Payload): Payload
  /** Of what the library is to read. */
  toLibrary(payload: Payload): Payload
}

export function createLibraryTime(clock: Clock, libraryClock: Clock): LibraryTime {
  // Two looks at one clock may lie a moment apart.
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
