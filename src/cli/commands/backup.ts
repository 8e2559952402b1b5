/** `backup`: copies the embedded store into one file while the server runs. */

import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { type Command, defineCommand, LocalProblem } from '../command.ts'
import { printRecord } from '../output/print.ts'

export const command: Command = defineCommand({
  name: 'backup',
  summary: 'Write the embedded store into one file, while the server runs or not',
  notes: () =>
    `The file is a whole store of one moment. The installation's key is not in it: without it the secrets of the store cannot be
read, so keep both, apart from each other. To bring it back, stop the server, put the file in place of \`armature.db\` in the
home, remove \`armature.db-wal\` and \`armature.db-shm\`, and start. A store in PostgreSQL is backed up by \`pg_dump\`.`,
  arguments: [{ name: 'file', summary: 'The file to write; it must not be there yet' }],
  options: {},
  examples: ['backup /var/backups/armature-monday.db'],
  async run({ terminal, home }, { file }) {
    const { databaseFile, keyFile } = home()
    if (!existsSync(databaseFile)) {
      const problem = `${databaseFile} is not there. A store in PostgreSQL is backed up by \`pg_dump\`.`
      throw new LocalProblem('NoStore', problem)
    }
    createPrivately(file)
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(databaseFile, { readOnly: true })
    try {
      db.prepare('VACUUM INTO ?').run(file)
    } catch (error) {
      rmSync(file, { force: true })
      throw new LocalProblem('NotWritten', `${file} could not be written: ${String(error)}`)
    } finally {
      db.close()
    }
    const key = existsSync(keyFile) ? { key: keyFile } : {}
    printRecord(terminal, { file, bytes: statSync(file).size, ...key })
    return 0
  },
})

/**
 * The file will hold hashes of secrets, so only its owner may read it. SQLite accepts an empty file as a new
 * database.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (Object(error).code === 'EEXIST') {
      throw new LocalProblem('FileExists', `${file} is there already.`)
    }
    throw new LocalProblem('NotWritten', `${file} could not be written: ${String(error)}`)
  }
}
