/** `api show`: shows an API. */

import { apis } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { showCommand } from '../../resource-commands.ts'

export const command: Command = showCommand(apis)
