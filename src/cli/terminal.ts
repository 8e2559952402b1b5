/** What a command may do besides requests: write text, read text, react to signals. */

import type { Output } from './output/choose-output.ts'

export interface Terminal {
  /** The form of output. */
  readonly output: Output
  /** Standard output, for results only. */
  out(text: string | Uint8Array): void
  /** Standard error, for errors and notices. */
  error(text: string): void
  /** True when a person reads the output at a terminal. */
  readonly interactive: boolean
  readonly coloured: boolean
  /** Asks for a line; undefined when nobody is there to answer. */
  ask(prompt: string): Promise<string | undefined>
  /** Reads all of standard input. */
  readInput(): Promise<string>
  /**
   * Calls back with pieces of standard input as they arrive, and with nothing at the end. A terminal sends each key
   * by itself. The returned function stops listening and gives the terminal back.
   */
  listen(callback: (bytes: Uint8Array | undefined) => Promise<void>): () => void
  /** The size of the terminal; undefined when there is none. */
  size(): { readonly rows: number; readonly columns: number } | undefined
  /** The server has started: whoever began this process may wait for it. */
  started?(): void
  /** Registers a callback for SIGINT, SIGTERM and SIGHUP. The process no longer ends by itself. */
  onStop(callback: () => void): void
  /**
   * Registers a callback for unhandled errors: a rejected promise, or an exception that nobody caught. The process
   * no longer ends by itself.
   */
  onUnhandled(callback: (kind: 'rejection' | 'exception', error: unknown) => void): void
  /** Ends the process at once. */
  exit(code: number): never
}
