/** The declaration of a command that talks to an installation: it has the options that say to which, and is given a connection. */

import {
  type ArgumentSpec,
  type Command,
  defineCommand,
  type OptionSpecs,
  type Values,
} from './command.ts'
import type { Connection, ConnectionValues, Context } from './context.ts'
import { connectionOptions } from './options.ts'

interface RemoteCommand<A extends readonly ArgumentSpec[], O extends OptionSpecs>
  extends Omit<Command<A, O & typeof connectionOptions>, 'options' | 'run'> {
  /** Those of the connection come after them. */
  readonly options: O
  /** Returns an exit code other than 0, or nothing. */
  run(
    connection: Connection,
    values: Values<A, O & typeof connectionOptions>,
    context: Context,
  ): Promise<number | undefined>
}

export function defineRemoteCommand<
  const A extends readonly ArgumentSpec[],
  const O extends OptionSpecs,
>(command: RemoteCommand<A, O>): Command {
  return defineCommand<A, O & typeof connectionOptions>({
    ...command,
    options: { ...command.options, ...connectionOptions },
    async run(context, values) {
      // `O` could take their names for something else; no command does.
      const connection = context.connect(values as ConnectionValues)
      return (await command.run(connection, values, context)) ?? 0
    },
  })
}
