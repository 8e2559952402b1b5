/** Every process has all deny assignments in memory, and a stack makes one for each of its thousands of resources. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState } from '#kernel/operation.ts'
import { until } from '../../../../../tests/until.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

const version = { version: '2024-03-01' }
const denialsMax = 20_000

const vaults = {
  what: 'a subscription',
  at: group,
  word: 'vaults',
  sections: {},
  resource: { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' },
}
const managementGroups = {
  what: 'all that is in no subscription',
  at: '/providers/Vendor.Management/managementGroups/top',
  word: 'managementGroups',
  sections: { $schema: 'managementGroupDeploymentTemplate.json#' },
  resource: { type: 'Vendor.Management/managementGroups', apiVersion: '2020-05-01', scope: '/' },
}

for (const { what, at, word, sections, resource } of [vaults, managementGroups])
  test(`${what} has a number of deny assignments, and those that are there stay`, async () => {
    await using t = await startDeployments()
    if (at !== group) await t.call('PUT', at, {}, { version: '2020-05-01' })
    const stack = `${at}/providers/Vendor.Resources/deploymentStacks/s`
    const deployed = async (names: readonly string[], mode = 'denyDelete') => {
      const resources = names.map((name) => ({ ...resource, name }))
      const properties = {
        template: templateFor(resources, sections),
        actionOnUnmanage: { resources: 'detach' },
        denySettings: { mode },
      }
      const body = { ...(at === group ? {} : { location: 'local' }), properties }
      await t.call('PUT', stack, body, version)
      await until(async () => isTerminalState((await t.plane.reader.get(stack))?.state ?? ''))
      const { body: shown } = await t.call('GET', stack, undefined, version)
      return JSON.parse(JSON.stringify(shown)).properties
    }
    const begun = await deployed(['one'])
    assert.equal(begun.provisioningState, 'succeeded', JSON.stringify(begun.error))
    const type = 'vendor.authorization/denyassignments'
    const [first] = await t.store.list({ under: '/', type, limit: 1 })
    assert.ok(first !== undefined)
    await t.store.transact(async (tx) => {
      for (let at = 1; at < denialsMax; at++) {
        const named = (text: string): string =>
          text.replace(new RegExp(`/${word}/one`, 'gi'), `/${word.toLowerCase()}/v${at}`)
        const { key, id, document } = first
        await tx.insert({ ...first, key: named(key), id: named(id), document: named(document) })
      }
    })
    const full = await deployed(['one', 'two'])
    assert.equal(full.provisioningState, 'failed')
    assert.deepEqual(
      full.failedResources.map(({ error }: { error: { code: string } }) => error.code),
      ['DenyAssignmentQuotaExceeded'],
    )
    const changed = await deployed(['one'], 'denyWriteAndDelete')
    assert.equal(changed.provisioningState, 'succeeded', JSON.stringify(changed.error))
    assert.equal(changed.resources[0].denyStatus, 'denyWriteAndDelete')
  })
