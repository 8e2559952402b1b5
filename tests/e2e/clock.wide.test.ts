/** The installation's clock is moved from outside, by weeks: what waits for the time happens, in every area. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientToken, startInstallation } from './installation.ts'

const environment = {
  ARMATURE_CONTROL: 'local',
  ARMATURE_CLOCK: 'manual',
  ARMATURE_CONTAINERS: 'simulated',
}

test('copies begin on schedule, what runs is charged, what is owed grows late, what is old is forgotten', async () => {
  await using server = await startInstallation({ environment })
  const run = async (...words: readonly string[]): Promise<string> => {
    const ran = await server.cli(words)
    assert.equal(ran.code, 0, ran.error)
    return ran.out
  }
  const send = async (status: number, method: string, path: string, body?: object) => {
    const token = await clientToken(server.url, server.owner)
    const answer = await server.request(
      method,
      path,
      body === undefined ? { token } : { body, token },
    )
    assert.equal(answer.status, status, answer.text)
    return answer
  }
  await run('clock', 'set', '2030-01-10T10:30:00Z')
  await run('demo', 'sharing', '--run')
  const data = `/subscriptions/${server.subscriptionId}/resourceGroups/demo/providers/Vendor.DataShare/accounts`
  const version = 'api-version=2021-08-01'
  const kept = `${data}/demo-consumer/shareSubscriptions/demo`
  const times = { recurrenceInterval: 'Hour', synchronizationTime: '2030-01-10T00:15:00Z' }
  const schedule = { kind: 'ScheduleBased', properties: times }
  const provider = `${data}/demo-provider/shares/demo/synchronizationSettings/hourly`
  await send(201, 'PUT', `${provider}?${version}`, schedule)
  const trigger = `${kept}/triggers/hourly?${version}`
  await run('rest', 'PUT', trigger, '--body', JSON.stringify(schedule))
  const copies = async (): Promise<number> => {
    const path = `${kept}/listSynchronizations?${version}`
    return (await send(200, 'POST', path)).items().length
  }
  const before = await copies()

  const group = `/subscriptions/${server.subscriptionId}/resourceGroups/demo/providers/Vendor.ContainerInstance/containerGroups/web?api-version=2023-05-01`
  const resources = { requests: { cpu: 2, memoryInGB: 4 } }
  const containers = [{ name: 'web', properties: { image: 'busybox', resources } }]
  const properties = { osType: 'Linux', containers }
  const made = await send(201, 'PUT', group, { location: 'local', properties })
  const operation = made.headers.get('vendor-asyncoperation') ?? ''

  const company = (await send(201, 'POST', '/api/v2.0/companies', { name: 'Late' })).at('id')
  const root = `/api/v2.0/companies(${company})`
  const customer = await send(201, 'POST', `${root}/customers`, { displayName: 'Adatum' })
  const item = await send(201, 'POST', `${root}/items`, { displayName: 'Chair', unitPrice: 100 })
  const customerId = customer.at('id')
  const invoice = await send(201, 'POST', `${root}/salesInvoices`, {
    customerId,
    dueDate: '2030-01-11',
    salesInvoiceLines: [{ itemId: item.at('id'), quantity: 1 }],
  })
  await send(204, 'POST', `${root}/salesInvoices(${invoice.at('id')})/Vendor.NAV.post`)
  const late = async () => {
    const { body } = await send(200, 'GET', `${root}/agedAccountsReceivables(${customerId})`)
    const row = body as Readonly<Record<string, unknown>>
    return ['agedAsOfDate', 'currentAmount', 'period1Amount'].map((name) => row[name])
  }
  assert.deepEqual(await late(), ['2030-01-10', 100, 0])

  await run('clock', 'advance', '50m')
  assert.equal(await copies(), before + 1)
  assert.equal((await send(200, 'GET', operation)).at('status'), 'Succeeded')
  await run('clock', 'advance', '36h')
  const charged = JSON.parse(await run('billing', 'transactions', '--json')) as readonly {
    readonly properties: { readonly transactionAmount: { readonly value: number } }
  }[]
  const sum = charged.reduce((all, one) => all + one.properties.transactionAmount.value, 0)
  assert.ok(sum > 1, `a day and a half of two processors costs ${sum}: ${JSON.stringify(charged)}`)
  assert.deepEqual(await late(), ['2030-01-11', 100, 0])
  await run('clock', 'advance', '24h')
  assert.deepEqual(await late(), ['2030-01-12', 0, 100])
  await run('clock', 'advance', '30d')
  const gone = await send(404, 'GET', operation)
  assert.match(gone.headers.get('date') ?? '', /^\w{3}, 11 Feb 2030/)
})
