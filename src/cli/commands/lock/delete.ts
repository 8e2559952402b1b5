/** `lock delete`: takes one away. */

import type { Command } from '../../command.ts'
import { locks } from '../../locks.ts'
import { deleteCommand } from '../../resource-commands.ts'

export const command: Command = deleteCommand(locks)
