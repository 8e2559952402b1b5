/** What this browser keeps of how somebody likes to look at things. Nothing secret, and nothing of the data. */

import { useState } from 'react'

const prefix = 'armature.'

export function usePreference<T extends string = string>(name: string, otherwise: T) {
  const [value, set] = useState<T>(() => (read(name) as T | null) ?? otherwise)
  return [
    value,
    (next: T) => {
      set(next)
      write(name, next)
    },
  ] as const
}

/** A browser may forbid storage; then preferences last as long as the page. */
function read(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name)
  } catch {
    return null
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // As above.
  }
}
