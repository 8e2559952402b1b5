/** Lines of the published command line, run one after the other by `programs/forked-az.py`. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

interface ForkedAz {
  run(words: readonly string[]): Promise<Ran>
  /** No line is run any more. The process is waited for, so that its cost is counted. */
  end(): Promise<void>
}

export function startForkedAz(env: NodeJS.ProcessEnv): ForkedAz {
  // Debian's, for which it has installed the program.
  const child = spawn('/usr/bin/python3', [join(import.meta.dirname, 'programs/forked-az.py')], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()
  const one = async (words: readonly string[]): Promise<Ran> => {
    child.stdin.write(`${JSON.stringify(words)}\n`)
    const { value, done } = await answers.next()
    if (done === true) throw new Error('the forks of az have ended')
    // What the program writes.
    return JSON.parse(value) as Ran
  }
  return {
    run(words) {
      const ran = last.then(() => one(words))
      last = ran.then(
        () => undefined,
        () => undefined,
      )
      return ran
    },
    async end() {
      child.stdin.end()
      await ended
    },
  }
}
