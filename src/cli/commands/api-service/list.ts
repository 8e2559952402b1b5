/** `api-service list`: all of them at a place. */

import { apiServices } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { listCommand } from '../../resource-commands.ts'

export const command: Command = listCommand(apiServices)
