/**
 * The cost of test files, and the report at the end of a run. A file over its budget is named, but fails nothing. A run over
 * the limit of all fails, unless the machine was slow or busy: seconds of a processor grow with its load.
 */

import { existsSync, readFileSync } from 'node:fs'

interface Cost {
  readonly path: string
  /** Processor seconds before its own code was loaded: the same for each file, so they show how busy the machine was. */
  readonly start: number
  /** Processor seconds, including the programs that the file started and waited for. */
  readonly processor: number
  readonly wall: number
}

/**
 * All in processor seconds. `total` and `limit` are of a tier: the ordinary `total` fits ten minutes. A run over `limit` fails,
 * if files started within `start`. `files` are those that may cost more than `file`.
 */
interface Budget {
  readonly total: number
  readonly limit: number
  readonly start: number
  readonly file: number
  readonly files: Readonly<Record<string, number>>
}

/** Files that share a process (`groups.ts`), whose costs are not known one by one: they have no budget. */
const groupEnding = '.test.mjs'
const ticksPerSecond = 100

/** Of programs that somebody else waits for, as the pages of a browser are. */
let noted = 0

export function noteProcessorSeconds(seconds: number): void {
  noted += seconds
}

/** Of this process and, if the system tells it, of its children that have ended. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childrenSeconds() + noted
}

function childrenSeconds(): number {
  const file = '/proc/self/stat'
  if (!existsSync(file)) return 0
  const text = readFileSync(file, 'utf8')
  // The second field is the name in parentheses, which may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

export function readCosts(text: string): readonly Cost[] {
  // Written by the preload, one line per file.
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Cost)
}

interface CostReport {
  readonly text: string
  readonly isFailed: boolean
}

export function costReport(
  costs: readonly Cost[],
  { total, limit, start, file, files }: Budget,
  shownMax = 12,
): CostReport {
  const sum = (of: 'processor' | 'wall'): number => costs.reduce((all, one) => all + one[of], 0)
  const sorted = costs.toSorted((a, b) => b.processor - a.processor)
  const line = ({ path, processor, wall }: Cost): string =>
    `  ${processor.toFixed(1).padStart(6)} ${wall.toFixed(1).padStart(6)}  ${path}`
  const over = sorted.filter(
    ({ path, processor }) => !path.endsWith(groupEnding) && processor > (files[path] ?? file),
  )
  const exact = sum('processor')
  const all = Math.round(exact)
  const starts = costs.map((one) => one.start).sort((a, b) => a - b)
  const median = starts[Math.floor(starts.length / 2)] ?? 0
  const isBusy = median > start
  const isOver = exact > limit
  const isFailed = isOver && !isBusy
  const lines = [
    `${all} seconds of processors in ${costs.length} files (budget ${total}, limit ${limit}), which lasted ${Math.round(sum('wall'))}.`,
    `A file starts in ${median.toFixed(2)} seconds of a processor (at most ${start} on a machine that is not busy).`,
    'The most expensive: seconds of processors, seconds it lasted.',
    ...sorted.slice(0, shownMax).map(line),
    ...(over.length === 0
      ? []
      : ['OVER THEIR BUDGET (tests/cost-budget.json):', ...over.map(line)]),
    ...(all > total ? [`OVER THE BUDGET OF ALL by ${all - total} seconds.`] : []),
    ...(isOver
      ? [
          isBusy
            ? 'OVER THE LIMIT OF ALL, which fails nothing: the machine is slow or was busy.'
            : 'OVER THE LIMIT OF ALL: THE RUN FAILS. Make tests cheaper, or move cases to files of a wider tier (tests/tiers.ts).',
        ]
      : []),
  ]
  return { text: lines.join('\n'), isFailed }
}
