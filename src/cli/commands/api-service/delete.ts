/** `api-service delete`: deletes an API management service. */

import { apiServices } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { deleteCommand } from '../../resource-commands.ts'

export const command: Command = deleteCommand(apiServices, 'and its APIs')
