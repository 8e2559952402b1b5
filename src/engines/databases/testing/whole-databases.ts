/** Databases that are migrated whole: those that somebody published, and our own with all that the catalogs know. */

import assert from 'node:assert/strict'
import { readTables } from '../postgres/catalog.ts'
import { applicationRoles, applicationStructures } from './application.ts'
import { makeWithExtensions } from './extensions.ts'
import type { MigrationFixture } from './fixture.ts'
import { generatedSchema } from './generated.ts'
import { startLoad } from './load.ts'
import { howToGetPgbench, makePgbench, runPgbench } from './pgbench.ts'
import { hasClient, loadPublished, publishedDatabases } from './published.ts'
import { rareRoles, rareStructures } from './rarities.ts'
import { findRegression, howToGetRegression, makeRegression } from './regression.ts'
import type { Major } from './servers.ts'

/** Ends when it is shut out of its database. */
interface Application {
  /** The number of its transactions that were acknowledged. */
  ended(): Promise<number>
}

export interface WholeDatabase {
  readonly name: string
  make(fixture: MigrationFixture, database: string): Promise<unknown>
  run(fixture: MigrationFixture, database: string): Promise<Application>
  /** Its dumps are the same text at two versions that one program reads. */
  readonly isDumpedAlike: boolean
}

/** Tables of our own generated schema. */
const generatedTables = 400
const writesPerSecond = 20
/** Of each table. */
const rowsWritten = 20
const pgbenchPerSecond = 150

export function publishedOnes(): readonly WholeDatabase[] {
  return [...(publishedDatabases() ?? [])].map(([name, file]) => ({
    name,
    make: async (fixture, database) => {
      await fixture.make(database, [])
      await loadPublished(fixture.source, database, file)
    },
    run: runWrites,
    isDumpedAlike: true,
  }))
}

/** Of the long suite. `skip` is called for what this machine lacks. */
export async function largeOnes(
  from: Major,
  skip: (how: string) => void,
): Promise<readonly WholeDatabase[]> {
  const found: WholeDatabase[] = [
    {
      name: 'generated',
      make: async (fixture, database) => {
        await fixture.makeOdd(database)
        await using inside = await fixture.session('source', database)
        await inside.run('SET search_path TO public')
        for (const statement of generatedSchema(generatedTables)) await inside.run(statement)
      },
      run: runWrites,
      isDumpedAlike: true,
    },
    { name: 'extensions', make: makeWithExtensions, run: runWrites, isDumpedAlike: true },
    {
      name: 'application',
      make: withRoles(applicationRoles, (database) => applicationStructures(database, from)),
      run: runWrites,
      isDumpedAlike: false,
    },
    {
      name: 'rarities',
      make: withRoles(rareRoles, (database) => rareStructures(database, from)),
      run: runWrites,
      isDumpedAlike: false,
    },
  ]
  if (await hasClient('pgbench')) {
    found.push({
      name: 'pgbench',
      make: makePgbench,
      run: async (fixture, database) => {
        const ended = runPgbench(fixture, database, pgbenchPerSecond)
        return { ended: () => ended }
      },
      isDumpedAlike: true,
    })
  } else {
    skip(howToGetPgbench)
  }
  if (findRegression(from) !== undefined) {
    found.push({
      name: 'regression',
      make: (fixture, database) => makeRegression(fixture, database, from),
      run: runWrites,
      isDumpedAlike: false,
    })
  } else {
    skip(howToGetRegression)
  }
  return found
}

/** An error that comes with the end of the statement is one of the statement. */
const goes = `CREATE FUNCTION pg_temp.goes(statement text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE statement; SET CONSTRAINTS ALL IMMEDIATE; RETURN true;
EXCEPTION WHEN OTHERS THEN RETURN false; END $$`

/** Makes a database whose objects name roles of its own. */
function withRoles(roles: string, structures: (database: string) => readonly string[]) {
  return async (fixture: MigrationFixture, database: string): Promise<void> => {
    await using server = await fixture.session('source', 'postgres')
    await server.run(roles)
    await fixture.make(database, structures(database))
  }
}

/** Writes to its tables that satisfy every constraint, and go through the log. Each has been made once, for all rows that it may be made for. */
async function writesOf(fixture: MigrationFixture, database: string): Promise<readonly string[]> {
  await using session = await fixture.session('source', database)
  const tables = await readTables(session)
  const writes = tables
    .filter(({ columns, pages }) => columns.length > 0 && pages > 0)
    .map(
      ({ name, columns: [column] }) =>
        (rows: string) =>
          `UPDATE ONLY ${name} SET ${column} = ${column} WHERE ctid IN (SELECT ctid FROM ONLY ${name} ${rows})`,
    )
  await session.run(`RESET search_path; ${goes}`)
  const going: string[] = []
  for (const write of writes) {
    // A row may violate a constraint that came after it.
    const all = write(`LIMIT ${rowsWritten}`)
    if ((await session.value('SELECT pg_temp.goes($1)', [all])) !== 'true') continue
    going.push(write(`OFFSET floor(random() * ${rowsWritten}) LIMIT 1`))
  }
  return going
}

async function runWrites(fixture: MigrationFixture, database: string): Promise<Application> {
  const statements = await writesOf(fixture, database)
  if (statements.length === 0) return { ended: async () => 0 }
  const load = startLoad(fixture.source, database, {
    perSecond: writesPerSecond,
    statements,
    endsWhenShutOut: true,
  })
  return {
    ended: async () => {
      await load.stop()
      assert.deepEqual(load.failures(), [], `what writes to ${database} was refused`)
      return load.committed()
    },
  }
}
