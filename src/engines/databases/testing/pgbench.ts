/** The tables of `pgbench`, and `pgbench` itself as the application that writes to them until it is shut out. */

import type { MigrationFixture } from './fixture.ts'
import { runClient } from './published.ts'

export const howToGetPgbench =
  'pgbench is missing: install it (`apt-get install postgresql-contrib`)'

const scale = 5
const clients = 4
/** Longer than any migration of a test. */
const secondsMax = 600

/** Its accounts in partitions, and foreign keys between all of them. */
export async function makePgbench(fixture: MigrationFixture, database: string): Promise<void> {
  await fixture.make(database, [])
  const args = ['--initialize', `--scale=${scale}`, '--foreign-keys', '--partitions=3', '--quiet']
  await runClient('pgbench', args, { server: fixture.source, database })
}

/** Ends when its sessions are ended. Resolves to the number of transactions that were acknowledged. */
export async function runPgbench(
  fixture: MigrationFixture,
  database: string,
  perSecond: number,
): Promise<number> {
  const args = [
    '--no-vacuum',
    '--protocol=prepared',
    `--client=${clients}`,
    `--jobs=1`,
    `--rate=${perSecond}`,
    `--time=${secondsMax}`,
  ]
  const said = await runClient('pgbench', args, {
    server: fixture.source,
    database,
    // It ends with a status of its own when it is shut out.
    ends: [0, 2],
  })
  return Number(/transactions actually processed: (\d+)/.exec(said)?.[1])
}
