/** `share server remove`: removes the registration of a server. */

import type { Command } from '../../../command.ts'
import { deleteCommand } from '../../../resource-commands.ts'
import { shareServers } from '../../../sharing.ts'

export const command: Command = deleteCommand(shareServers)
