/** `migration server delete`: deletes a server here. The PostgreSQL that it stands for does not change. */

import { groupOptions } from '../../../group-place.ts'
import { migrationQuery, serverPath } from '../../../migrations.ts'
import { noWaitOption } from '../../../options.ts'
import { defineRemoteCommand } from '../../../remote-command.ts'
import { deleteResource } from '../../../resource-commands.ts'

export const command = defineRemoteCommand({
  name: 'migration server delete',
  summary: 'Delete a server here; the PostgreSQL and its databases stay as they are',
  arguments: [{ name: 'name', summary: 'The name of the server' }],
  options: { ...groupOptions, ...noWaitOption },
  examples: ['migration server delete shop -g demo'],
  async run(connection, values, context) {
    const path = await serverPath(connection, values, values.name)
    await deleteResource(connection, context, path, { ...values, query: migrationQuery })
  },
})
