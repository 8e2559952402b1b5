/** `share store list`: lists the storage accounts. */

import type { Command } from '../../../command.ts'
import { listCommand } from '../../../resource-commands.ts'
import { shareStores } from '../../../sharing.ts'

export const command: Command = listCommand(shareStores)
