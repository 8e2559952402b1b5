/** `share server show`: shows one server. */

import type { Command } from '../../../command.ts'
import { showCommand } from '../../../resource-commands.ts'
import { shareServers } from '../../../sharing.ts'

export const command: Command = showCommand(shareServers)
