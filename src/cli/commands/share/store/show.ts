/** `share store show`: shows one storage account. */

import type { Command } from '../../../command.ts'
import { showCommand } from '../../../resource-commands.ts'
import { shareStores } from '../../../sharing.ts'

export const command: Command = showCommand(shareStores)
