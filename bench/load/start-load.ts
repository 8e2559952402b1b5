/** Runs one load in a process of its own and returns its result. */

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Processors } from '../harness/processors.ts'
import type { LoadJob, LoadResult } from './job.ts'

const program = fileURLToPath(new URL('generate.ts', import.meta.url))
const heapMegabytesMax = 2_048

export async function startLoad(processors: Processors, job: LoadJob): Promise<LoadResult> {
  const [command = process.execPath, ...rest] = processors.forLoad([
    process.execPath,
    `--max-old-space-size=${heapMegabytesMax}`,
    '--disable-warning=ExperimentalWarning',
    program,
  ])
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'pipe'] })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  })
  child.stdin.end(JSON.stringify(job))
  const [printed, complaint, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ])
  process.off('exit', kill)
  if (code !== 0) throw new Error(`The load did not run to its end (${code}):\n${complaint}`)
  // `generate.ts` prints this type.
  return JSON.parse(printed) as LoadResult
}
