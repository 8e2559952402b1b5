/** `lock show`: shows a lock. */

import type { Command } from '../../command.ts'
import { locks } from '../../locks.ts'
import { showCommand } from '../../resource-commands.ts'

export const command: Command = showCommand(locks)
