/**
 * The cost of test files, and the report at the end of a run. A file over its budget is named, but fails nothing.
 */

import { existsSync, readFileSync } from 'node:fs'

interface Cost {
  readonly path: string
  /** Processor seconds, including the programs that the file started and waited for. */
  readonly processor: number
  readonly wall: number
}

/** All in processor seconds. `files` are those that may cost more than `file`. */
interface Budget {
  readonly total: number
  readonly file: number
  readonly files: Readonly<Record<string, number>>
}

const shownMax = 12
const ticksPerSecond = 100

/** Of this process and, if the system tells it, of its children that have ended. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childrenSeconds()
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

export function costReport(costs: readonly Cost[], { total, file, files }: Budget): string {
  const sum = (of: 'processor' | 'wall'): number => costs.reduce((all, one) => all + one[of], 0)
  const sorted = costs.toSorted((a, b) => b.processor - a.processor)
  const line = ({ path, processor, wall }: Cost): string =>
    `  ${processor.toFixed(1).padStart(6)} ${wall.toFixed(1).padStart(6)}  ${path}`
  const over = sorted.filter((one) => one.processor > (files[one.path] ?? file))
  const all = Math.round(sum('processor'))
  return [
    `${all} seconds of processors in ${costs.length} files (budget ${total}), which lasted ${Math.round(sum('wall'))}.`,
    'The dearest: seconds of processors, seconds it lasted.',
    ...sorted.slice(0, shownMax).map(line),
    ...(over.length === 0
      ? []
      : ['OVER THEIR BUDGET (tests/cost-budget.json):', ...over.map(line)]),
    ...(all > total ? [`OVER THE BUDGET OF ALL by ${all - total} seconds.`] : []),
  ].join('\n')
}
