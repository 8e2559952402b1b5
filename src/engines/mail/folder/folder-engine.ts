/**
 * Writes mails into a folder, one file each, for an installation without a mail server and for looking at mails.
 */

import { mkdirSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { type MailEngine, MailNotSent } from '../engine.ts'

interface MailFolder {
  readonly path: string
  /** The oldest files are removed beyond these. */
  readonly filesMax: number
  readonly bytesMax: number
}

interface Room {
  files: number
  bytes: number
}

/** Files of mails, named by time. Nothing else in the folder is removed. */
const ours = /^\d{8}T\d{6}Z-[A-Za-z0-9_-]+\.eml$/
/** The part of the bounds that is made free at once, so that not every mail reads the folder. */
const freed = 0.1

/** The first mail creates the folder. Files are named by time, and only their owner can read them. */
export function folderEngine(folder: MailFolder): MailEngine {
  const { path } = folder
  /** What may be written until the folder is read again. */
  let room: Room = { files: 0, bytes: 0 }
  return {
    title: `files in ${path}`,
    async send({ id, at }, message) {
      const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')
      const name = `${time}-${id.replace(/[^A-Za-z0-9-]/g, '_')}.eml`
      try {
        mkdirSync(path, { recursive: true, mode: 0o700 })
        if (room.files < 1 || room.bytes < message.length) room = await makeRoom(folder)
        replaceFile(join(path, name), Buffer.from(message, 'latin1'), { isDurable: true })
      } catch (error) {
        throw new MailNotSent('the folder of mails cannot be written', false, { cause: error })
      }
      room.files -= 1
      room.bytes -= message.length
      return { refused: [] }
    },
  }
}

/** Removes the oldest mails until a tenth of the bounds is free. Resolves to what may be written now. */
async function makeRoom({ path, filesMax, bytesMax }: MailFolder): Promise<Room> {
  const room = { files: filesMax, bytes: bytesMax }
  const isTight = (): boolean =>
    room.files < Math.ceil(filesMax * freed) || room.bytes < bytesMax * freed
  // The newest first, so that those beyond the bounds are the oldest.
  const names = (await readdir(path))
    .filter((name) => ours.test(name))
    .sort()
    .reverse()
  for (const name of names) {
    const file = join(path, name)
    // One that another process has removed.
    const bytes = (await stat(file).catch(() => undefined))?.size ?? 0
    room.files -= 1
    room.bytes -= bytes
    if (!isTight()) continue
    await rm(file, { force: true })
    room.files += 1
    room.bytes += bytes
  }
  return room
}
