/**
 * The containers of a group as places for actions: they have no resource of their own, so nothing here is
 * stored or listed.
 */

import { defineResource, type ResourceType } from '#plane/define.ts'
import { attachTo, execIn, type StreamParts } from './exec-attach.ts'
import { type LogParts, logsOf } from './logs.ts'

export function containers(parts: LogParts & StreamParts): ResourceType {
  return defineResource({
    type: 'ContainerInstance/containerGroups/containers',
    description: 'One container of a group.',
    scope: 'resource-group',
    tracked: false,
    name: { pattern: /^[a-zA-Z0-9-]{1,63}$/, rule: '1 to 63 letters, digits and hyphens' },
    versions: [],
    apiVersions: ['2025-09-01'],
    verbs: [],
    actions: { logs: logsOf(parts), exec: execIn(parts), attach: attachTo(parts) },
  })
}
