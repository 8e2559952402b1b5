/** Collects the findings of a validation and their severity. */

import type { Finding, FindingState } from '../engine.ts'

const badness: Readonly<Record<FindingState, number>> = { Succeeded: 0, Warning: 1, Failed: 2 }

/** The length of one finding. */
const messageCharacters = 4000

export function worst(states: readonly FindingState[]): FindingState {
  return states.reduce<FindingState>(
    (left, right) => (badness[right] > badness[left] ? right : left),
    'Succeeded',
  )
}

export interface Findings {
  /** Registers a check; without `add` it succeeded. */
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
    // It contains the server's names, which can have any length.
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

/** The first few, and the number of others. */
export function listed(names: readonly string[], most = 10): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}
