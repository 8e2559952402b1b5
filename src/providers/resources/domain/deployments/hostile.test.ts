/**
 * Templates that try to use up the server's time: it keeps answering while they are evaluated, and they are
 * refused.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiError } from '#kernel/error.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

/** Ten thousand times ten thousand steps, in a text of a hundred characters. */
const squares =
  "[length(map(range(0,10000),lambda('i',length(map(range(0,10000),lambda('j',add(lambdaVariables('j'),1)))))))]"

test('a template that takes millions of steps does not hold up the event loop, and is refused', async () => {
  await using started = await startDeployments()
  const template = templateFor([], { outputs: { n: { type: 'array', value: squares } } })
  const body = { properties: { mode: 'Incremental', template } }
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setTimeout(turn, 1)
  }
  turn()
  const path = `${group}/providers/Vendor.Resources/deployments/hostile/validate`
  await assert.rejects(started.call('POST', path, body), (error: ApiError) => {
    assert.equal(error.code, 'InvalidTemplate')
    assert.match(error.message, /take more steps than are allowed/)
    return true
  })
  isDone = true
  assert.ok(turns > 20, `the loop came round ${turns} times`)
})

test('outputs have a bound in sum: each list of deployments shows them', async () => {
  await using started = await startDeployments()
  const value = 'x'.repeat(100_000)
  const outputs = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`o${at}`, { type: 'string', value }]),
  )
  const body = { properties: { mode: 'Incremental', template: templateFor([], { outputs }) } }
  const path = `${group}/providers/Vendor.Resources/deployments/large`
  await started.call('PUT', path, body)
  await started.settle()
  const read = JSON.parse(JSON.stringify((await started.call('GET', path)).body))
  assert.equal(read.properties.provisioningState, 'Failed')
  assert.equal(read.properties.error.code, 'DeploymentOutputsTooLarge')
  assert.match(read.properties.error.message, /'o5'/)
})
