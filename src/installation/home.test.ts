import assert from 'node:assert/strict'
import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { openServerHome } from './home.ts'

const reason =
  process.platform === 'linux' ? false : 'the system does not say which file is flushed'

test('a key, and secrets that are kept in files alone, survive a loss of power', {
  skip: reason,
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-home-'))
  const flushed: string[] = []
  const flush = fs.fsyncSync
  const watch = t.mock.method(fs, 'fsyncSync', (file: number) => {
    flushed.push(basename(readlinkSync(`/proc/self/fd/${file}`)))
    flush(file)
  })
  syncBuiltinESMExports()
  try {
    const home = openServerHome(folder)
    const flushesOf = (work: () => unknown): readonly string[] => {
      flushed.length = 0
      work()
      return [...flushed]
    }
    const file = (name: string) => [`${name}.${process.pid}.new`, basename(folder)]
    // The store is sealed with them, and flushes each of its writes.
    assert.deepEqual(
      flushesOf(() => home.createKey()),
      file('installation.key'),
    )
    assert.deepEqual(
      flushesOf(() => home.createNextKey()),
      file('installation.key.next'),
    )
    assert.deepEqual(
      flushesOf(() => home.localTokenSecret()),
      file('local-token.secret'),
    )
    const owner = {
      principalId: 'a',
      clientId: 'a',
      clientSecret: 'b',
      signInName: 'c',
      password: 'd',
    }
    assert.deepEqual(
      flushesOf(() => home.writeOwner(owner)),
      file('owner.json'),
    )
  } finally {
    watch.mock.restore()
    syncBuiltinESMExports()
    rmSync(folder, { recursive: true })
  }
})

test('an empty local secret is none: another one is made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-home-'))
  try {
    for (const text of ['', '\n', '\0'.repeat(44)]) {
      writeFileSync(join(folder, 'local-token.secret'), text)
      const secret = openServerHome(folder).localTokenSecret()
      assert.equal(secret.length, 43)
      assert.equal(openServerHome(folder).localTokenSecret(), secret)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('what a killed server left of its temporary files is removed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-home-'))
  try {
    const home = openServerHome(folder)
    for (let n = 0; n < 2; n++) {
      home.emptyTemporaryFolder()
      assert.deepEqual(readdirSync(home.temporaryFolder), [])
      mkdirSync(join(home.temporaryFolder, 'copy'))
      writeFileSync(join(home.temporaryFolder, 'copy', 'file'), 'bytes')
    }
    home.emptyTemporaryFolder()
    assert.deepEqual(readdirSync(home.temporaryFolder), [])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
