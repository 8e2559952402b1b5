/** `share server delete`: deletes a server here. What it stands for does not change. */

import type { Command } from '../../../command.ts'
import { deleteCommand } from '../../../resource-commands.ts'
import { shareServers } from '../../../sharing.ts'

export const command: Command = deleteCommand(shareServers)
