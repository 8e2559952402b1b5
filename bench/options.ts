/** The options of a run. */

import { parseArgs } from 'node:util'

export interface Options {
  /** Seconds of measured load per round, case and server. */
  readonly seconds: number
  readonly rounds: number
  /** Names of scenarios. Empty means all. */
  readonly only: readonly string[]
  /** Part of a contestant's name. Other contestants of a scenario are left out, except its floor. */
  readonly contestants: readonly string[]
  /** Writes no file of results. Set for a run of a part, which must not replace the results of a whole run. */
  readonly dry: boolean
  readonly help: boolean
}

export const usage = `Usage: npm run bench -- [options]

  --seconds <n>      measured load per round, case and server (3)
  --rounds <n>       rounds, each visiting every server (3)
  --only <names>     scenarios by file name, comma-separated (all)
  --servers <names>  servers whose name contains one of these (all)
  --dry              print, and write no results; a run of a part never writes any
`

export function readOptions(given: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...given],
    options: {
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      servers: { type: 'string', default: '' },
      dry: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const only = names(values.only)
  const contestants = names(values.servers)
  return {
    seconds: within('--seconds', values.seconds, 0.2, 600),
    rounds: Math.round(within('--rounds', values.rounds, 1, 100)),
    only,
    contestants,
    dry: values.dry || only.length > 0 || contestants.length > 0,
    help: values.help,
  }
}

function within(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!(value >= least && value <= most)) {
    throw new Error(`${name} is a number from ${least} to ${most}, not '${text}'.`)
  }
  return value
}

function names(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
}
