/** `share server list`: lists the servers. */

import type { Command } from '../../../command.ts'
import { listCommand } from '../../../resource-commands.ts'
import { shareServers } from '../../../sharing.ts'

export const command: Command = listCommand(shareServers)
