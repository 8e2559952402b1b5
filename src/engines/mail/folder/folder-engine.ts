/**
 * Writes mails into a folder, one file each, for an installation without a mail server and for looking at mails.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { type MailEngine, MailNotSent } from '../engine.ts'

/**
 * The first mail creates the folder. Files are named by time, only their owner can read them, and they are kept.
 */
export function folderEngine(folder: string): MailEngine {
  return {
    title: `files in ${folder}`,
    async send({ id, at }, message) {
      const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')
      const name = `${time}-${id.replace(/[^A-Za-z0-9-]/g, '_')}.eml`
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        replaceFile(join(folder, name), Buffer.from(message, 'latin1'), { isDurable: true })
      } catch (error) {
        throw new MailNotSent('the folder of mails cannot be written', false, { cause: error })
      }
      return { refused: [] }
    },
  }
}
