/** The demo of service health: an incident and an advisory, and operations 6 and 7 that show them. */

import { textOf } from '#client/answer.ts'
import { extensionPath } from '../../../resource-path.ts'
import type { DemoArea } from '../area.ts'

const version = 'api-version=2025-05-01'
const region = 'local'

export const area: DemoArea = {
  name: 'health',
  summary: 'service health events of a subscription and of one resource',
  operations: [6, 7],
  async prepare(fixture) {
    const group = await fixture.group()
    const vault = `${extensionPath(fixture.words, group, 'Secrets/vaults')}/demo-health`
    await fixture.put(
      `${vault}?api-version=2026-01-01`,
      { location: region, properties: {} },
      'Vault demo-health',
    )
    const events = extensionPath(fixture.words, '/', 'ResourceHealth/events')
    const query = { 'api-version': '2025-05-01' }
    const publish = async (id: string, properties: object): Promise<void> => {
      const send = (step: string, body: object) =>
        fixture.client.send('POST', `${events}/${id}/${step}`, { query, body })
      const made = await send('publish', { properties })
      // An earlier run published it. A new note puts it into the window of three days again.
      if (made.status === 409) await send('annotate', { summary: 'It goes on.' })
    }
    const impactOn = (service: string, status: string) => [
      { impactedService: service, impactedRegions: [{ impactedRegion: region, status }] },
    ]
    await publish('DEMO-1', {
      eventType: 'ServiceIssue',
      eventLevel: 'Error',
      title: 'Vaults answer slowly',
      summary: 'Reading secrets takes longer than usual.',
      impact: impactOn('Secrets', 'Active'),
    })
    await publish('DEMO-2', {
      eventType: 'PlannedMaintenance',
      eventLevel: 'Informational',
      title: 'Hosts of containers get a new kernel',
      impact: impactOn('Container Instances', 'Active'),
    })
    const list = await fixture.client.list(events, { query })
    fixture.note(`${list.length} events: ${list.map((one) => textOf(one, 'name')).join(', ')}`)
    const under = `/subscriptions/${fixture.subscriptionId}`
    const at = (scope: string): string =>
      `${extensionPath(fixture.words, scope, 'ResourceHealth/events')}?${version}`
    const filter = encodeURIComponent("eventType eq 'ServiceIssue' and service eq 'Secrets'")
    const start = encodeURIComponent('1/1/2026')
    return [
      {
        operation: 6,
        title: 'the events that touch a subscription',
        method: 'GET',
        path: at(under),
      },
      {
        operation: 6,
        title: 'incidents of one service since a date',
        method: 'GET',
        path: `${at(under)}&$filter=${filter}&queryStartTime=${start}`,
      },
      { operation: 7, title: 'what touches one resource now', method: 'GET', path: at(vault) },
    ]
  },
}
