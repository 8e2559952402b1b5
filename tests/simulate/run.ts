/**
 * `npm run simulate`: real servers under random writers, killed at random moments, held to what they promised.
 * Prints its seed first; the exit code is 0 only when every promise was kept.
 */

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { findPostgres, howToGetPostgres } from '#stores/testing/postgres-server.ts'
import type { StoreKind } from './fixture.ts'
import { BrokenPromise, simulate } from './simulation.ts'

const usage = `npm run simulate -- [--seed N] [--rounds R] [--seconds S] [--writers W] [--store sqlite|postgres|both]

  --seed     what chance begins with; made up and printed when left out
  --rounds   how often something is killed, for each store (default: as many as fit into --seconds)
  --seconds  how long to go on, for each store (default 60)
  --writers  how many write at once (default 8)
  --store    default both
`

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    writers: { type: 'string' },
    store: { type: 'string', default: 'both' },
    help: { type: 'boolean', default: false },
  },
})

function whole(name: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} takes a whole number`)
  return value
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (!['sqlite', 'postgres', 'both'].includes(values.store)) {
    process.stderr.write(usage)
    return 2
  }
  const seed = whole('seed', values.seed, randomInt(2 ** 31))
  // With rounds alone: no time limit. With neither: a minute.
  const secondsDefault = values.rounds === undefined ? 60 : 24 * 3600
  const options = {
    seed,
    roundsMax: whole('rounds', values.rounds, 1_000_000),
    secondsMax: whole('seconds', values.seconds, secondsDefault),
    writers: whole('writers', values.writers, 8),
    say: (line: string) => void process.stdout.write(`${line}\n`),
  }
  process.stdout.write(`seed ${seed}\n`)
  // The check above allows nothing else.
  const stores = (values.store === 'both' ? ['sqlite', 'postgres'] : [values.store]) as StoreKind[]
  for (const store of stores) {
    if (store === 'postgres' && findPostgres() === undefined) {
      process.stderr.write(`SKIPPED: ${howToGetPostgres}\n`)
      if (values.store === 'postgres') return 1
      continue
    }
    try {
      const report = await simulate({ ...options, store })
      process.stdout.write(`${store}: every promise was kept. ${JSON.stringify(report)}\n`)
    } catch (error) {
      if (!(error instanceof BrokenPromise)) throw error
      process.stderr.write(`${error.message}\n`)
      return 1
    }
  }
  return 0
}

process.exitCode = await main()
