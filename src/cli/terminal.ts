/** What a command may do to the outside besides asking the server: text out, text in, a signal to stop. */

import type { Output } from './output/choose-output.ts'

export interface Terminal {
  /** The form of answers. */
  readonly output: Output
  /** Standard output: what was asked for, and nothing else. */
  out(text: string | Uint8Array): void
  /** Standard error: what went wrong, and what is worth knowing meanwhile. */
  error(text: string): void
  /** Somebody reads along at a terminal: answers are laid out for people. */
  readonly interactive: boolean
  readonly coloured: boolean
  /** What is typed in answer to a prompt; undefined where nobody is there to be asked. */
  ask(prompt: string): Promise<string | undefined>
  /** All of standard input. */
  readInput(): Promise<string>
  /**
   * Calls back with standard input as it comes, one piece at a time, and with nothing at its end. What is typed
   * at a terminal comes key by key. Calling the answer stops it and gives the terminal back.
   */
  listen(callback: (bytes: Uint8Array | undefined) => Promise<void>): () => void
  /** Of the terminal one types and reads at; undefined where there is none. */
  size(): { readonly rows: number; readonly columns: number } | undefined
  /** Called for each SIGINT, SIGTERM or SIGHUP from now on; the process no longer ends by itself. */
  onStop(callback: () => void): void
  /**
   * Called for each error that nobody handled from now on: the rejection of a promise, or an exception that reached the
   * top. The process no longer ends by itself.
   */
  onUnhandled(callback: (kind: 'rejection' | 'exception', error: unknown) => void): void
  /** Ends the process at once. */
  exit(code: number): never
}
