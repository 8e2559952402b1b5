/** `api-service list`: lists API management services. */

import { apiServices } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { listCommand } from '../../resource-commands.ts'

export const command: Command = listCommand(apiServices)
