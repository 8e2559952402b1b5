/** Runs command lines in this process and captures their output. For tests only. */

import { main } from '../main.ts'
import { plainOutput } from '../output/choose-output.ts'
import type { Terminal } from '../terminal.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
  readonly interactive?: boolean
  /** The answer to a prompt; without one nobody is there. */
  readonly answer?: string
  readonly size?: { readonly rows: number; readonly columns: number }
  /** Gets standard error while the command still runs. */
  readonly onError?: (text: string) => void
}

export async function runCli(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  let out = ''
  let error = ''
  const terminal: Terminal = {
    output: plainOutput,
    ask: async (prompt) => {
      if (options.answer !== undefined) error += prompt
      return options.answer
    },
    out: (text) => {
      out += Buffer.from(text).toString('utf8')
    },
    error: (text) => {
      error += text
      options.onError?.(text)
    },
    interactive: options.interactive ?? false,
    coloured: false,
    readInput: async () => options.input ?? '',
    listen: (callback) => {
      const given = Buffer.from(options.input ?? '')
      void (given.length === 0 ? Promise.resolve() : callback(given)).then(() =>
        callback(undefined),
      )
      return () => {}
    },
    size: () => options.size,
    onStop: () => {},
    onUnhandled: () => {},
    exit: (code) => {
      throw new Error(`the command ended the process with ${code}`)
    },
  }
  const sources = { environment: options.environment ?? {}, directory: '/' }
  const code = await main(words, terminal, { version: '1.2.3', sources })
  return { code, out, error }
}
