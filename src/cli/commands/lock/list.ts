/** `lock list`: lists the locks of a scope. */

import type { Command } from '../../command.ts'
import { locks } from '../../locks.ts'
import { listCommand } from '../../resource-commands.ts'

export const command: Command = listCommand(locks)
