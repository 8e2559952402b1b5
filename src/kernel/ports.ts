/**
 * What pure code needs from its environment, as parameters: time, randomness, the log. The production
 * implementations of the first two are only created in `main.ts`, so that tests can control time.
 */

/**
 * The current time, in milliseconds since 1970 UTC. An operator or a test may change it. Never read it twice for
 * one fact.
 */
export interface Clock {
  now(): number
}

/**
 * Timers. Those of an installation follow its `Clock`, which may be moved; deadlines of sockets and of other
 * programs follow the machine's. A callback that starts work returns its promise, so that a move of the clock can
 * wait for it.
 */
export interface Timers {
  after(milliseconds: number, callback: () => unknown): { cancel(): void }
}

/** New identifiers. */
export interface Ids {
  /** A random (version 4) UUID in lower case. */
  uuid(): string
  /** Where ids are the same on every machine: one for a row, in place of one that begins with the moment. */
  fixed?(): string | undefined
  /** `bytes` of randomness, base64url without a leading hyphen. For secrets; never derived from the clock. */
  secret(bytes: number): string
}

/** Encrypts stored secrets with a key of the installation. */
export interface Seal {
  /** Encrypts and authenticates. Opening needs the same `context` (a kind and an id). */
  seal(text: string, context: string): string
  /** The text; `undefined` when it was sealed with another key or context, or was changed. */
  open(sealed: string, context: string): string | undefined
}

/** A structured log (pino in production). It never gets a secret or a token. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Whether the heap of this process is nearly full. */
export interface HeapWatch {
  isFull(): boolean
  /** Called after each collection that leaves it nearly full. */
  onFull(free: () => void): void
}
