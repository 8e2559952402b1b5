/** The events of a group or a container. A repeated event is counted, and only a bounded number is kept. */

export interface GroupEvent {
  readonly count: number
  /** Milliseconds since 1970. */
  readonly first: number
  readonly last: number
  readonly name: string
  readonly message: string
  readonly type: 'Normal' | 'Warning'
}

export interface NewEvent {
  readonly name: string
  readonly message: string
  readonly type: 'Normal' | 'Warning'
  readonly at: number
}

/** The event that reports a failure. */
export function eventOf(code: string): string {
  const mounts = ['SecretNotAvailable', 'FileShareNotAvailable', 'GitRepositoryNotAvailable']
  return mounts.includes(code) ? 'FailedMount' : 'Failed'
}

const messageCharactersMax = 1000

export function addEvent(
  events: readonly GroupEvent[],
  { name, message: whole, type, at }: NewEvent,
  eventsMax: number,
): readonly GroupEvent[] {
  const message = whole.slice(0, messageCharactersMax)
  const same = events.find((one) => one.name === name && one.message === message)
  const rest = events.filter((one) => one !== same)
  const event: GroupEvent = {
    count: (same?.count ?? 0) + 1,
    first: same?.first ?? at,
    last: at,
    name,
    message,
    type,
  }
  return [...rest, event].slice(-eventsMax)
}

export function showEvent(event: GroupEvent): object {
  return {
    count: event.count,
    firstTimestamp: new Date(event.first).toISOString(),
    lastTimestamp: new Date(event.last).toISOString(),
    name: event.name,
    message: event.message,
    type: event.type,
  }
}
