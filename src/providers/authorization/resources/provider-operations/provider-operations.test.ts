/** The existing actions, by namespace and type. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { type ActionDescription, describeActions } from '#plane/describe.ts'
import { realIds, testSeal } from '#plane/testing/provider-context.ts'
import { nobody, startPlane } from '#plane/testing/start.ts'
import { secretsProvider } from '../../../secrets/provider.ts'
import { authorizationProvider } from '../../provider.ts'

const path = '/providers/Vendor.Authorization/providerOperations'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
type Wire = any

async function start() {
  let actions: () => readonly ActionDescription[] = () => []
  const directory = { find: async () => undefined, groupsOf: async () => [] }
  const provider = authorizationProvider({
    words: contractWords,
    directory,
    describeActions: () => actions(),
  })
  const started = await startPlane({
    providers: [provider, secretsProvider({ seal: testSeal, ids: realIds })],
  })
  actions = () => describeActions(started.plane.registry)
  return started
}

test('every action of a type is listed with the types, and to anybody signed in', async () => {
  await using started = await start()
  const get = async (query: string): Promise<Wire> => {
    const options = { as: nobody, version: '2022-04-01' }
    return JSON.parse(JSON.stringify((await started.call('GET', query, undefined, options)).body))
  }
  const list = await get(`${path}?$expand=resourceTypes`)
  const own = list.value.find((one: Wire) => one.name === 'Vendor.Authorization')
  const locks = own.resourceTypes.find((one: Wire) => one.name === 'locks')
  assert.deepEqual(
    locks.operations.map(({ name }: Wire) => name),
    ['delete', 'read', 'write'].map((verb) => `Vendor.Authorization/locks/${verb}`),
  )
  assert.deepEqual((await get(path)).value[0].resourceTypes, [])
  const secrets = list.value.find((one: Wire) => one.name === 'Vendor.Secrets')
  const getValue = 'Vendor.Secrets/vaults/secrets/getValue/action'
  const onSecrets = secrets.resourceTypes.find((one: Wire) => one.name === 'vaults/secrets')
  assert.deepEqual(
    onSecrets.operations
      .filter(({ name }: Wire) => name === getValue)
      .map(({ isDataAction }: Wire) => isDataAction),
    [false, true],
  )
  const { value } = await get('/providers/Vendor.Secrets/operations')
  assert.deepEqual(
    value.filter((one: Wire) => one.isDataAction).map(({ name }: Wire) => name),
    [getValue],
  )
})
