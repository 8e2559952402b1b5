/** `lock list`: all of them at a place. */

import type { Command } from '../../command.ts'
import { locks } from '../../locks.ts'
import { listCommand } from '../../resource-commands.ts'

export const command: Command = listCommand(locks)
