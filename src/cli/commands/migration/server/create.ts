/** `migration server create`: a server by the address and the credentials of a PostgreSQL that runs. */

import { readFileSync } from 'node:fs'
import { textOf } from '#client/answer.ts'
import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../../command.ts'
import { groupOptions, missingGroup } from '../../../group-place.ts'
import { migrationVersion, serverPath, sslModes } from '../../../migrations.ts'
import { connectionOptions } from '../../../options.ts'
import { printRecord } from '../../../output/print.ts'
import { passwordForms, readPassword } from '../../../password.ts'
import { putResource } from '../../../resource-commands.ts'

export const command: Command = defineCommand({
  name: 'migration server create',
  summary: 'Create a server by the address of a PostgreSQL that runs, or change it',
  notes:
    () => `The installation connects at once, and again now and then; \`migration server show\` says
what it found. The password is kept encrypted and never shown.`,
  arguments: [{ name: 'name', summary: 'The name of the server here' }],
  options: {
    ...groupOptions,
    host: { type: 'string', value: 'host', required: true, summary: 'Its name or address' },
    port: { type: 'string', value: 'number', summary: '5432 when left out' },
    user: { type: 'string', value: 'user', required: true, summary: 'Who signs in' },
    password: { type: 'string', value: 'where', summary: `The password: ${passwordForms}` },
    'ssl-mode': {
      type: 'string',
      value: 'mode',
      choices: sslModes,
      summary: 'How connections to it are encrypted; Prefer when left out',
    },
    'root-certificates': {
      type: 'string',
      value: 'file',
      summary: 'PEM of the authorities to trust with VerifyCA and VerifyFull',
    },
    location: { type: 'string', value: 'name', summary: '`local` when left out' },
    ...connectionOptions,
  },
  examples: [
    'migration server create shop -g demo --host db.example --user postgres --password @password.txt',
    'migration server create shop -g demo --host 127.0.0.1 --port 5433 --user postgres --password env:PGPASSWORD',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const { port = '5432', location = 'local' } = values
    if (!/^\d{1,5}$/.test(port)) throw new UsageError(`\`--port ${port}\` is not a number`)
    const [, host, ownPort] = /^([^:]+):(\d+)$/.exec(values.host) ?? []
    if (host !== undefined) {
      throw new UsageError(
        `\`--host ${values.host}\` holds a port: \`--host ${host} --port ${ownPort}\``,
      )
    }
    const administratorLoginPassword = await readPassword(context, 'password', values.password)
    const certificates = values['root-certificates']
    const mode = values['ssl-mode']
    const connection = context.connect(values)
    const path = await serverPath(connection, values, values.name)
    const made = await putResource(connection, path, migrationVersion, {
      location,
      properties: {
        fullyQualifiedDomainName: values.host,
        port: Number(port),
        administratorLogin: values.user,
        administratorLoginPassword,
        ...(mode === undefined ? {} : { sslMode: mode }),
        ...(certificates === undefined ? {} : { rootCertificates: readPem(certificates) }),
      },
    })
    printRecord(context.terminal, made, {
      name: textOf(made, 'name'),
      state: propertyOf(made, 'state'),
      version: propertyOf(made, 'version') || undefined,
      reason: propertyOf(made, 'stateReason') || undefined,
    })
    return 0
  },
})

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // Converts errors of the file system.
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem('FileUnreadable', `${file} cannot be read: ${reason}`, { cause: error })
  }
}
