import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { envelopeOf, mailEngineContract, sampleMail } from '../contract.ts'
import { MailNotSent } from '../engine.ts'
import { folderEngine } from './folder-engine.ts'

async function openFolder({ filesMax = 1_000, bytesMax = 100_000_000 } = {}) {
  const home = await mkdtemp(join(tmpdir(), 'armature-mail-'))
  const folder = join(home, 'mails')
  return {
    folder,
    engine: folderEngine({ path: folder, filesMax, bytesMax }),
    async received() {
      const names = (await readdir(folder)).toSorted()
      return await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  }
}

mailEngineContract('mail into a folder', () => openFolder())

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

for (const [what, bounds, atLeast] of [
  ['files', { filesMax: 20 }, 18],
  ['bytes', { bytesMax: 20_000 }, 16],
] as const) {
  test(`the oldest mails are removed beyond a bound of ${what}`, async () => {
    await using backend = await openFolder(bounds)
    const other = join(backend.folder, 'a note of somebody.eml')
    const names: string[] = []
    for (let at = 0; at < 30; at++) {
      const sent = { ...envelopeOf(sampleMail), id: `m${at}`, at: sampleMail.at + at * 1000 }
      await backend.engine.send(sent, 'x'.repeat(1_000))
      if (at === 0) await writeFile(other, 'kept')
      names.push(`m${at}.eml`)
      const kept = (await readdir(backend.folder)).filter((name) => name.includes('Z-'))
      assert.ok(kept.length <= 20 && kept.length >= Math.min(atLeast, at + 1), `${kept.length}`)
    }
    const kept = (await readdir(backend.folder)).toSorted()
    assert.equal(kept.pop(), 'a note of somebody.eml')
    assert.deepEqual(
      kept.map((name) => name.slice(name.indexOf('-') + 1)),
      names.slice(-kept.length),
    )
  })
}

test('a mail of an earlier time than all others is kept, and one beyond the bound as well', async () => {
  await using backend = await openFolder({ filesMax: 20, bytesMax: 20_000 })
  for (let at = 0; at < 20; at++) {
    await backend.engine.send({ ...envelopeOf(sampleMail), id: `m${at}` }, 'x'.repeat(900))
  }
  const early = { ...envelopeOf(sampleMail), id: 'early', at: 0 }
  await backend.engine.send(early, 'x'.repeat(30_000))
  assert.ok((await readdir(backend.folder)).includes('19700101T000000Z-early.eml'))
})
