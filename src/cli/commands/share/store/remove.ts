/** `share store remove`: removes the registration of a storage account. */

import type { Command } from '../../../command.ts'
import { deleteCommand } from '../../../resource-commands.ts'
import { shareStores } from '../../../sharing.ts'

export const command: Command = deleteCommand(shareStores)
