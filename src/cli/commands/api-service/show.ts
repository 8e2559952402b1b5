/** `api-service show`: shows an API management service. */

import { apiServices } from '../../api-management.ts'
import type { Command } from '../../command.ts'
import { showCommand } from '../../resource-commands.ts'

export const command: Command = showCommand(apiServices)
