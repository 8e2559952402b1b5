/**
 * The demo of migrations: two PostgreSQL servers on this machine, a shop that writes to one of them, and an online
 * migration to the other that waits for its cutover. It runs until it is ended, and then removes everything.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionFailure } from '#client/client-error.ts'
import { LocalProblem } from '../../../command.ts'
import {
  hasEnded,
  type MigrationStatus,
  migrationQuery,
  migrationVersion,
  statusOf,
} from '../../../migrations.ts'
import { extensionPath } from '../../../resource-path.ts'
import type { DemoArea } from '../area.ts'
import { findPair, makePair, type ServerPair } from '../migration-servers.ts'
import { openSession } from '../postgres-session.ts'
import type { DemoSetup } from '../setup.ts'
import {
  openShop,
  type ShopLocation,
  shopDatabase,
  shopSchema,
  stockDatabase,
  stockSchema,
} from '../shop.ts'

const migrationName = 'shop'
const version = `api-version=${migrationVersion}`
const lookMilliseconds = 200
const looksMax = 600
const namesMax = 20

export const area: DemoArea = {
  name: 'migrations',
  summary: 'an online migration, waiting for its cutover',
  operations: [8],
  stays: true,
  async prepare(fixture) {
    if (!fixture.isHere) {
      throw new LocalProblem(
        'NotHere',
        'The demo’s servers can be reached from this machine only, and the installation runs elsewhere.',
      )
    }
    const servers = `${extensionPath(fixture.words, await fixture.group(), 'DBforPostgreSQL/flexibleServers')}`
    const { pair, isOld } = await servePair(fixture, servers)
    const target = `${servers}/${pair.name}`
    const migration = `${target}/migrations/${migrationName}`
    await register(fixture, `${servers}/demo-source`, pair.source.port, pair.source.password)
    await register(fixture, target, pair.target.port, pair.target.password)
    fixture.note(
      `Servers demo-source (PostgreSQL ${pair.sourceMajor}, port ${pair.source.port}) and ${pair.name} (PostgreSQL ${pair.targetMajor}, port ${pair.target.port})`,
    )
    if (pair.sourceMajor === pair.targetMajor) {
      fixture.note(
        `Both are of the only version that was found here: another one (apt-get install postgresql-…, or npm ci in a checkout) shows a move to a newer version`,
      )
    }
    if (!isOld) await begin(fixture, migration, pair)
    fixture.kept.defer(() => takeDown(fixture, servers, migration, pair))
    const whereabouts = (): Promise<ShopLocation> => whereaboutsOf(fixture, migration)
    const { source, target: there } = pair
    const shop = openShop({
      source: { ...source, database: shopDatabase },
      target: { ...there, database: shopDatabase },
      whereabouts,
      say: fixture.say,
    })
    fixture.kept.use(shop)
    await waitForCutover(fixture, migration)
    fixture.note(
      'A shop that writes some twenty orders a second to its database at the source, meanwhile',
    )
    fixture.note(`An online migration of that database, which waits for its cutover`)
    fixture.note(`The password of both servers: ${pair.passwordFile}`)
    const place = `-g demo -s ${pair.name}`
    fixture.note(`Watch it:    npx armature migration watch ${migrationName} ${place}`)
    fixture.note(`Cut it over: npx armature migration cutover ${migrationName} ${place}`)
    fixture.note('The servers run until this command is ended (Ctrl-C)')
    const path = `${migration}?${version}`
    return [
      {
        operation: 8,
        title: 'cut the database over',
        method: 'PATCH',
        path,
        body: { properties: { triggerCutover: 'True', dbsToTriggerCutoverOn: [shopDatabase] } },
      },
      { operation: 8, title: 'the migration, as it stands', method: 'GET', path },
    ]
  },
}

/** The servers of a killed demo if their migration is still running; otherwise new ones. */
async function servePair(
  fixture: DemoSetup,
  servers: string,
): Promise<{ readonly pair: ServerPair; readonly isOld: boolean }> {
  await using old = new AsyncDisposableStack()
  const found = await findPair(fixture.home, old)
  if (found !== undefined && (await activeOf(fixture, `${servers}/${found.name}`)) !== undefined) {
    fixture.kept.use(old.move())
    return { pair: found, isOld: true }
  }
  await old.disposeAsync()
  // A migration whose servers are gone keeps its target's name occupied.
  for (let at = 1; at <= namesMax; at++) {
    const name = at === 1 ? 'demo-target' : `demo-target-${at}`
    if ((await activeOf(fixture, `${servers}/${name}`)) !== undefined) continue
    return { pair: await makePair(fixture.home, name, fixture.kept), isOld: false }
  }
  throw new LocalProblem('TooManyDemos', 'Too many demos of migrations were left in the middle.')
}

async function activeOf({ client }: DemoSetup, target: string): Promise<unknown> {
  const answer = await client.send('GET', target, { query: migrationQuery })
  if (answer.status === 404) return undefined
  return (await client.list(`${target}/migrations`, { query: migrationQuery }))[0]
}

async function register(
  fixture: DemoSetup,
  path: string,
  port: number,
  administratorLoginPassword: string,
): Promise<void> {
  const body = {
    location: await fixture.location(),
    properties: {
      fullyQualifiedDomainName: '127.0.0.1',
      port,
      administratorLogin: 'postgres',
      administratorLoginPassword,
    },
  }
  const { client } = fixture
  await client.waitForOperation(await client.request('PUT', path, { query: migrationQuery, body }))
}

/** The sample database and its migration. */
async function begin(
  { client }: DemoSetup,
  migration: string,
  { source, target }: ServerPair,
): Promise<void> {
  for (const [database, text] of [
    ['postgres', `CREATE DATABASE ${shopDatabase}`],
    ['postgres', `CREATE DATABASE ${stockDatabase}`],
    [shopDatabase, shopSchema],
    [stockDatabase, stockSchema],
  ] as const) {
    const session = await openSession({ ...source, database })
    await session?.run(text)
    await session?.end()
  }
  // An ended migration is deleted, so that this one is new.
  await client.send('DELETE', migration, { query: migrationQuery })
  const properties = {
    sourceType: 'OnPremises',
    sourceDbServerResourceId: `127.0.0.1:${source.port}@postgres`,
    migrationMode: 'Online',
    dbsToMigrate: [shopDatabase],
    setupLogicalReplicationOnSourceDbIfNeeded: 'True',
    secretParameters: {
      adminCredentials: {
        sourceServerPassword: source.password,
        targetServerPassword: target.password,
      },
    },
  }
  await client.request('PUT', migration, { query: migrationQuery, body: { properties } })
}

async function look({ client }: DemoSetup, migration: string): Promise<MigrationStatus> {
  return statusOf((await client.request('GET', migration, { query: migrationQuery })).body)
}

async function waitForCutover(fixture: DemoSetup, migration: string): Promise<void> {
  for (let looks = 0; looks < looksMax; looks++) {
    const status = await look(fixture, migration)
    if (hasEnded(status)) {
      throw new LocalProblem(
        'MigrationFailed',
        `The migration ended ${status.state}. ${status.error}`,
      )
    }
    if (status.subState === 'WaitingForCutoverTrigger') return
    await sleep(lookMilliseconds)
  }
  throw new LocalProblem(
    'MigrationStuck',
    'The migration did not come to its cutover in two minutes.',
  )
}

/** The location of the shop's database. Without an answer of the installation nothing is done. */
async function whereaboutsOf(fixture: DemoSetup, migration: string): Promise<ShopLocation> {
  try {
    const { databases } = await look(fixture, migration)
    const state = databases.find(({ name }) => name === shopDatabase)?.state
    if (state === 'Succeeded') return 'target'
    return state === 'InProgress' || state === undefined ? 'moving' : 'source'
  } catch (error) {
    if (error instanceof ConnectionFailure) return 'moving'
    throw error
  }
}

/** Cancels the migration if it has not ended, and removes what the demo made. */
async function takeDown(
  fixture: DemoSetup,
  servers: string,
  migration: string,
  pair: ServerPair,
): Promise<void> {
  const { client } = fixture
  fixture.say('Ending: the servers, their data and what is registered of them go …')
  try {
    if (!hasEnded(await look(fixture, migration))) {
      fixture.say('Calling the migration off …')
      const body = { properties: { cancel: 'True' } }
      await client.request('PATCH', migration, { query: migrationQuery, body })
    }
    for (let looks = 0; looks < looksMax; looks++) {
      if (hasEnded(await look(fixture, migration))) break
      await sleep(lookMilliseconds)
    }
    for (const path of [`${servers}/${pair.name}`, `${servers}/demo-source`]) {
      await client.waitForOperation(await client.send('DELETE', path, { query: migrationQuery }))
    }
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error
    fixture.say(
      'The installation does not answer: the next demo of migrations goes on with this one.',
    )
    return
  }
  pair.discard()
}
