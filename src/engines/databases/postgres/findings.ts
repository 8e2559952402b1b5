/** Collects what the checks of a validation find, and says how bad it is. */

import type { Finding, FindingState } from '../engine.ts'

const badness: Readonly<Record<FindingState, number>> = { Succeeded: 0, Warning: 1, Failed: 2 }

/** Of one finding, at the most. */
const messageCharacters = 4000

export function worst(states: readonly FindingState[]): FindingState {
  return states.reduce<FindingState>(
    (left, right) => (badness[right] > badness[left] ? right : left),
    'Succeeded',
  )
}

export interface Findings {
  /** The check was made; without `add` it succeeded. */
  check(type: string): void
  add(type: string, state: FindingState, message: string): void
  all(): readonly Finding[]
}

export function createFindings(): Findings {
  const found = new Map<string, { state: FindingState; message: string }[]>()
  const messagesOf = (type: string): { state: FindingState; message: string }[] => {
    const messages = found.get(type) ?? []
    found.set(type, messages)
    return messages
  }
  return {
    check: (type) => void messagesOf(type),
    // Names in it are the server's, which may be of any length.
    add: (type, state, message) =>
      void messagesOf(type).push({ state, message: message.slice(0, messageCharacters) }),
    all: () =>
      [...found].map(([type, messages]) => ({
        type,
        state: worst(messages.map(({ state }) => state)),
        messages,
      })),
  }
}

/** The first few, and how many more. */
export function listed(names: readonly string[], most = 10): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}
