/** `stack list`: lists the stacks of a scope. */

import type { Command } from '../../command.ts'
import { listCommand } from '../../resource-commands.ts'
import { stacks } from '../../stacks.ts'

export const command: Command = listCommand(stacks)
