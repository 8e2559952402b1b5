/** `api list`: lists the APIs of a service. */

import { apis } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { listCommand } from '../../resource-commands.ts'

export const command: Command = listCommand(apis)
