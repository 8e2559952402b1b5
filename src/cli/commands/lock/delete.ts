/** `lock delete`: deletes a lock. */

import type { Command } from '../../command.ts'
import { locks } from '../../locks.ts'
import { deleteCommand } from '../../resource-commands.ts'

export const command: Command = deleteCommand(locks)
