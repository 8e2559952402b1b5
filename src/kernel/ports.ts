/**
 * What the pure parts need of the world, as parameters: time, chance, the log. The only
 * implementations of the first two for production stand in `main.ts`, so that tests can move time.
 */

/** Now, in milliseconds since 1970 UTC. May be moved by an operator or a test; never read twice for one fact. */
export interface Clock {
  now(): number
}

/**
 * Waits for time to pass. Those of an installation go by its `Clock`, which may be moved; deadlines of sockets and of other
 * programs are the machine's. A callback that begins work gives back its promise, so that a move of the clock can wait for it.
 */
export interface Timers {
  after(milliseconds: number, callback: () => unknown): { cancel(): void }
}

/** Fresh identifiers. */
export interface Ids {
  /** A random (version 4) UUID in lower case. */
  uuid(): string
  /** `bytes` of randomness, base64url without a hyphen in front: for secrets, never derived from the clock. */
  secret(bytes: number): string
}

/** Encrypts what must not be readable at rest, with a key of the installation. */
export interface Seal {
  /** Encrypted and authenticated. `context` (a kind and an id) must be given again to open it. */
  seal(text: string, context: string): string
  /** The text, or `undefined` when it was sealed with another key or context, or was changed. */
  open(sealed: string, context: string): string | undefined
}

/** A structured log. Never given a secret or a token; pino in production. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
