/** `npm run new` in a copy of the tree: its output compiles, is listed, and has a contract test that fails. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeNew, UsageError } from '../../tools/new/make-new.ts'

const root = join(import.meta.dirname, '../..')
const copy = mkdtempSync(join(tmpdir(), 'armature-new-'))
const things = 'src/providers/example-area/resources/small-things'

function run(...command: readonly string[]): {
  readonly status: number | null
  readonly text: string
} {
  // The runner tells its children that they are children. A test that is started here is not one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const [program = '', ...words] = command
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: copy, encoding: 'utf8', env })
  return { status, text: stdout + stderr }
}

describe('npm run new', () => {
  before(() => {
    for (const name of ['src', 'package.json', 'tsconfig.base.json', 'tsconfig.json']) {
      cpSync(join(root, name), join(copy, name), { recursive: true })
    }
    // Tests of `src` read their requirements from there.
    cpSync(join(root, 'tests'), join(copy, 'tests'), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    })
    cpSync(join(root, 'tools'), join(copy, 'tools'), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  })
  after(() => rmSync(copy, { recursive: true, force: true }))

  test('a provider, a type, a version of it and one of a type that was there', () => {
    const provider = makeNew(copy, ['provider', 'ExampleArea'])
    const resource = makeNew(copy, ['resource', 'example-area', 'smallThings', '2026-01-01'])
    const nested = makeNew(copy, ['resource', 'example-area', 'smallThings/screws', '2026-01-01'])
    const version = makeNew(copy, ['version', 'example-area', 'smallThings', '2026-06-01-preview'])
    const known = makeNew(copy, ['version', 'authorization', 'locks', '2099-01-01'])
    for (const path of [provider, resource, nested, version, known].flatMap(({ made }) => made)) {
      assert.ok(existsSync(join(copy, path)), path)
    }
    const read = (path: string) => readFileSync(join(copy, path), 'utf8')
    assert.match(
      read('src/providers/index.ts'),
      /const served: readonly Provider\[\] = \[\n {4}exampleAreaProvider\(\),\n/,
    )
    assert.match(
      read('src/providers/example-area/provider.ts'),
      /types: \[screws\(\), smallThings\(\), \]/,
    )
    assert.match(read(`${things}/resource.ts`), /versions: \[v2026_01_01, v2026_06_01_preview\]/)
    assert.match(read(`${things}/versions/2026-06-01-preview.ts`), /date: '2026-06-01-preview'/)
    assert.match(
      read('src/providers/authorization/resources/locks/resource.ts'),
      /versions: \[v2016_09_01, v2099_01_01\]/,
    )
  })

  test('what it made compiles', () => {
    // With everything it imports: `npm run check` covers the whole tree.
    const locks = 'src/providers/authorization/resources/locks'
    const include = [
      'src/providers/example-area/**/*.ts',
      `${locks}/resource.ts`,
      `${locks}/versions/*.ts`,
    ]
    writeFileSync(
      join(copy, 'made.json'),
      JSON.stringify({ extends: './tsconfig.json', include, files: [] }),
    )
    const { status, text } = run(
      process.execPath,
      'node_modules/typescript/bin/tsc',
      '-p',
      'made.json',
    )
    assert.equal(status, 0, text)
  })

  test('the new types are declared as the others are', () => {
    const { status, text } = run(
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--eval',
      `const { declaredTable } = await import('./tools/generate/declared-table.ts')
       const routes = declaredTable().routes.filter(({ path }) => path.endsWith('/smallThings/{smallThingName}'))
       console.log(routes.map(({ versions }) => versions.join()).join('\\n'))
       console.log(declaredTable().registry.byName('ExampleArea/smallThings/screws').fullType)`,
    )
    assert.equal(status, 0, text)
    assert.match(text, /^2026-06-01-preview,2026-01-01$/m)
    assert.match(text, /ExampleArea\/smallThings\/screws$/m)
  })

  test('its contract test fails until the contract is written down, and passes then', () => {
    const path = `${things}/versions/2026-01-01.test.ts`
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--test', path]
    const first = run(...node)
    assert.equal(first.status, 1, first.text)
    assert.match(first.text, /write the names of the contract here/)
    const text = readFileSync(join(copy, path), 'utf8')
    writeFileSync(
      join(copy, path),
      text.replace('write the names of the contract here', 'description'),
    )
    const second = run(...node)
    assert.equal(second.status, 0, second.text)
  })

  test('what is there is not made again, and what cannot be made is said', () => {
    const refused: readonly (readonly string[])[] = [
      [],
      ['provider'],
      ['provider', 'lower'],
      ['provider', 'Storage'],
      ['resource', 'nowhere', 'things', '2026-01-01'],
      ['resource', 'storage', 'storageAccounts', '2026-01-01'],
      ['resource', 'storage', 'things', 'yesterday'],
      ['version', 'storage', 'things', '2026-01-01'],
      ['version', 'authorization', 'locks', '2016-09-01'],
    ]
    for (const words of refused) {
      assert.throws(() => makeNew(copy, words), UsageError, words.join(' '))
    }
  })

  test('the refusal of a word says what is wrong with it', () => {
    const folderName = ['version', 'container-instance', 'container-groups', '2099-01-01']
    assert.throws(() => makeNew(copy, folderName), /camel case.*: containerGroups\./)
    assert.throws(
      () => makeNew(copy, ['resource', 'storage', 'things', 'yesterday']),
      /yesterday: a version is a date/,
    )
    assert.throws(() => makeNew(copy, ['provider', 'Vendor.Things']), /without the vendor word/)
  })

  test('a version that cannot be copied is refused with the place to write it', () => {
    const inline = ['version', 'data-share', 'accounts', '2099-01-01']
    assert.throws(() => makeNew(copy, inline), /accounts\/resource\.ts holds its versions itself/)
    const listed = ['version', 'api-management', 'apis', '2099-01-01']
    assert.throws(() => makeNew(copy, listed), /apis\/resource\.ts lists their dates/)
    const made = makeNew(copy, ['version', 'storage', 'storageAccounts', '2099-01-01'])
    assert.doesNotMatch(made.next, /\.test\.ts/)
  })
})
