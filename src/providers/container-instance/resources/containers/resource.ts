/** The containers of a group as targets of actions. They are no resources, so nothing here is stored or listed. */

import { defineActions } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { attachTo, execIn, type StreamDependencies } from './actions/exec-attach.ts'
import { type LogDependencies, logsOf } from './actions/logs.ts'

export function containers(deps: LogDependencies & StreamDependencies): ResourceType {
  return defineActions({
    type: 'ContainerInstance/containerGroups/containers',
    description: 'One container of a group.',
    scope: 'resource-group',
    apiVersions: ['2025-09-01'],
    actions: { logs: logsOf(deps), exec: execIn(deps), attach: attachTo(deps) },
  })
}
