/** `api delete`: deletes an API. */

import { apis } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { deleteCommand } from '../../resource-commands.ts'

export const command: Command = deleteCommand(apis)
