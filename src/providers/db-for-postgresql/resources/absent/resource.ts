/**
 * What belongs to a published server and never to one that is registered here: it is another's, reached by its address and
 * by password (decision 0169). Clients list it on their way.
 */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { types, version } from '../../dependencies.ts'

const kinds = {
  administrators: 'Who signs in to a server by a token. Nobody: servers take passwords.',
  backups: 'Backups of a server. None is made from here: they are its operator’s.',
  ltrBackupOperations: 'Long-term backups of a server. None is made from here.',
  logFiles: 'Log files of a server to fetch. They stay on its machine.',
  privateEndpointConnections:
    'Private ways to a server. There are none: it is reached by its address.',
  privateLinkResources: 'What private ways could lead to. There is nothing.',
  replicas: 'Copies of a server that follow it. None is made from here.',
  virtualEndpoints: 'Names that follow a server and its copies. There are none.',
}

export function absentFromServers(): readonly ResourceType[] {
  return defineAbsent(types.servers, kinds, { scope: 'resource-group', apiVersions: [version] })
}
