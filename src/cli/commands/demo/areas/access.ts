/** The demo of access control: a group, an application, and the call that lets the one read the other. */

import { apiVersions, extensionPath } from '../../../resource-path.ts'
import { uuidOf } from '../../../uuid-of.ts'
import type { DemoArea } from '../area.ts'

/** Of the built-in role Reader (facts 2.6). */
const readerRole = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

export const area: DemoArea = {
  name: 'access',
  summary: 'role assignments',
  operations: [1],
  async prepare(world) {
    const group = await world.group()
    const principalId = await world.servicePrincipal('demo-reader')
    const name = uuidOf(`demo|${group.toLowerCase()}|${principalId}`)
    const assignments = extensionPath(world.words, group, 'Authorization/roleAssignments')
    const roleDefinitions = extensionPath(world.words, '/', 'Authorization/roleDefinitions')
    return [
      {
        operation: 1,
        title: 'create or update a role assignment; here demo-reader may read the group demo',
        method: 'PUT',
        path: `${assignments}/${name}?api-version=${apiVersions.roleAssignments}`,
        body: {
          properties: {
            roleDefinitionId: `${roleDefinitions}/${readerRole}`,
            principalId,
            principalType: 'ServicePrincipal',
            description: 'Made by the demo',
          },
        },
      },
    ]
  },
}
