/** Shared by the commands of container groups: paths, options, and their api-version. */

import type { Answer } from '#client/answer.ts'
import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'
import { type GroupPlace, inGroup } from './group-place.ts'

export const containerVersion = '2025-09-01'

export function groupPath(
  connection: Connection,
  place: GroupPlace,
  name: string,
): Promise<string> {
  return inGroup(connection, place, 'ContainerInstance/containerGroups', name)
}

/** Calls an action of a group. Returns when it is done, or at once with `--no-wait`. */
export async function actOn(
  connection: Connection,
  path: string,
  action: 'start' | 'stop' | 'restart',
  wait: boolean,
): Promise<Answer> {
  const query = { 'api-version': containerVersion }
  const accepted = await connection.client.request('POST', `${path}/${action}`, { query })
  return wait ? connection.client.waitForOperation(accepted) : accepted
}

/** The summary of a group, with one line for each container. */
export function summaryOf(group: unknown): Record<string, unknown> {
  const properties = propertiesOf(group)
  const address = properties['ipAddress']
  const containers = [
    ...listOf(properties, 'initContainers'),
    ...listOf(properties, 'containers'),
  ].map((one) => [`container ${textOf(one, 'name') ?? ''}`, stateOf(one)] as const)
  return {
    name: textOf(group, 'name'),
    location: textOf(group, 'location'),
    state: textOf(properties['instanceView'], 'state'),
    provisioningState: textOf(properties, 'provisioningState'),
    address: textOf(address, 'ip'),
    fqdn: textOf(address, 'fqdn'),
    ...Object.fromEntries(containers),
    ...Object.fromEntries(eventsOf(properties['instanceView'])),
  }
}

function stateOf(container: unknown): string {
  const view = propertiesOf(container)['instanceView']
  const current = isJsonObject(view) ? view['currentState'] : undefined
  const code = isJsonObject(current) ? current['exitCode'] : undefined
  const restarts = isJsonObject(view) ? view['restartCount'] : undefined
  return [
    textOf(current, 'state') ?? 'Waiting',
    ...(code === undefined ? [] : [`with exit code ${String(code)}`]),
    ...(typeof restarts === 'number' && restarts > 0 ? [`after ${restarts} restarts`] : []),
  ].join(', ')
}

function eventsOf(view: unknown): readonly (readonly [string, string])[] {
  const events = listOf(view, 'events')
  return events.map((one) => [`event ${textOf(one, 'name') ?? ''}`, textOf(one, 'message') ?? ''])
}

/** The name of the first container in a group's answer. */
export function firstContainer(group: unknown): string {
  const name = textOf(listOf(propertiesOf(group), 'containers')[0], 'name')
  if (name !== undefined) return name
  throw new LocalProblem('NoContainer', 'The group shows no container. Name one: --container')
}
