/** `share store delete`: deletes a storage account here. What it stands for does not change. */

import type { Command } from '../../../command.ts'
import { deleteCommand } from '../../../resource-commands.ts'
import { shareStores } from '../../../sharing.ts'

export const command: Command = deleteCommand(shareStores)
