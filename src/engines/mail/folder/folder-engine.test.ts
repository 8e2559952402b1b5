import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { envelopeOf, mailEngineContract, sampleMail } from '../contract.ts'
import { MailNotSent } from '../engine.ts'
import { folderEngine } from './folder-engine.ts'

async function openFolder() {
  const home = await mkdtemp(join(tmpdir(), 'armature-mail-'))
  const folder = join(home, 'mails')
  return {
    folder,
    engine: folderEngine(folder),
    async received() {
      const names = (await readdir(folder)).toSorted()
      return await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  }
}

mailEngineContract('mail into a folder', openFolder)

test('a file is named by its time, and is its owner’s alone', async () => {
  await using backend = await openFolder()
  await backend.engine.send({ ...envelopeOf(sampleMail), id: '../../outside' }, 'From: x\r\n\r\n')
  const [name = ''] = await readdir(backend.folder)
  assert.equal(name, '20261125T075600Z-______outside.eml')
  const modes = [backend.folder, join(backend.folder, name)].map(async (path) => stat(path))
  assert.deepEqual(
    (await Promise.all(modes)).map(({ mode }) => mode & 0o777),
    [0o700, 0o600],
  )
})

test('a folder that cannot be written leaves the message with its sender', async () => {
  await using backend = await openFolder()
  await writeFile(backend.folder, 'a file stands in its place')
  await assert.rejects(backend.engine.send(envelopeOf(sampleMail), 'x'), (error: unknown) => {
    assert.ok(error instanceof MailNotSent && !error.isFinal)
    return true
  })
})
