/**
 * The preferences that this browser keeps (decision 191). Nothing secret, and no data except the names in a filter.
 */

import { useSyncExternalStore } from 'react'
import { person } from '../api/session.ts'

const prefix = 'armature.'

/** For a browser that forbids storage: preferences last as long as the page. */
const unkept = new Map<string, string>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** A preference of this browser, whoever is signed in. */
export function usePreference<T extends string = string>(name: string, otherwise: T) {
  // A value that an earlier release kept is used as it is.
  const value = useSyncExternalStore(subscribe, () => readPreference(name)) as T | null
  return [value ?? otherwise, (next: T) => writePreference(name, next)] as const
}

/** A preference of the person who is signed in. */
export function useOwnPreference(name: string, otherwise: string) {
  return usePreference(ownName(name), otherwise)
}

/** The name of a preference of the person who is signed in. */
export function ownName(name: string): string {
  return `${person()?.id ?? ''}.${name}`
}

/** The preference that holds which columns of a table are hidden, parted by blanks. */
export function columnsOf(table: string): string {
  return `columns.${table}`
}

export function readPreference(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name)
  } catch {
    return unkept.get(name) ?? null
  }
}

export function writePreference(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    unkept.set(name, value)
  }
  for (const listener of listeners) listener()
}
