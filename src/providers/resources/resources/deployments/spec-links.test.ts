/** Nested deployments whose templates are in a template spec. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '#plane/testing/provider-context.ts'
import { TemplateThreads } from '../../domain/evaluation/template-threads.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

/** How many nested deployments wait for their plans at once. */
class CountingThreads extends TemplateThreads {
  #now = 0
  most = 0

  override async ask(...call: Parameters<TemplateThreads['ask']>): Promise<never> {
    const [{ kind }, { accepted }] = call
    const counts = kind === 'expand' && accepted ? 1 : 0
    this.#now += counts
    this.most = Math.max(this.most, this.#now)
    try {
      return (await super.ask(...call)) as never
    } finally {
      this.#now -= counts
    }
  }
}

test('are sent two at a time, since each reads a template that may have megabytes', async () => {
  const threads = new CountingThreads(realClock)
  await using t = await startDeployments({ threads })
  const spec = `${group}/providers/Vendor.Resources/templateSpecs/spec`
  const options = { version: '2022-02-01' }
  await t.call('PUT', spec, { location: 'local', properties: {} }, options)
  const body = { location: 'local', properties: { mainTemplate: templateFor([]) } }
  await t.call('PUT', `${spec}/versions/v1`, body, options)
  const nested = Array.from({ length: 6 }, (_, at) => ({
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: `n${at}`,
    properties: { mode: 'Incremental', templateLink: { id: `${spec}/versions/v1` } },
  }))
  const deployment = `${group}/providers/Vendor.Resources/deployments/outer`
  await t.call('PUT', deployment, {
    properties: { mode: 'Incremental', template: templateFor(nested) },
  })
  await t.settle()
  const { body: shown } = await t.call('GET', deployment)
  assert.equal(
    (shown as { properties: { provisioningState: string } }).properties.provisioningState,
    'Succeeded',
  )
  assert.equal(threads.most, 2)
})
