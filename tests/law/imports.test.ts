/** The import law: every import of `src` against the table of ARCHITECTURE.md. Each rule is broken once. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exceptions, importFault, readImportLaw, resolveImport } from './import-law.ts'
import { areaOf, importsOf, sourceFiles } from './source.ts'

const law = readImportLaw()
const files = sourceFiles('src')
const faultOf = (from: string, specifier: string): string | undefined =>
  importFault(law, from, specifier)

describe('the import law', () => {
  for (const file of files) {
    test(file.path, () => {
      // Tests and test support may import more: they start real things.
      if (file.isTest) return
      assert.deepEqual(
        importsOf(file.text).flatMap((specifier) => faultOf(file.path, specifier) ?? []),
        [],
      )
    })
  }

  test('every area has a row, and every row and grant an area', () => {
    const areas = new Set(files.filter((file) => !file.isTest).map((file) => areaOf(file.path)))
    const own = new Set(
      files.map((file) => file.path.replace(/^src\/(providers\/[^/]+)\/.*/, '$1')),
    )
    assert.deepEqual(
      [...areas].filter((area) => !law.has(area)),
      [],
    )
    for (const name of [...law.keys(), ...[...law.values()].flat()]) {
      assert.ok(name === '*' || areas.has(name) || own.has(name), `no area is called '${name}'`)
    }
  })

  test('the exceptions are needed', () => {
    for (const { from, to } of exceptions) {
      const file = files.find(({ path }) => path === from)
      assert.ok(
        file !== undefined &&
          importsOf(file.text).some((specifier) => resolveImport(from, specifier) === to),
        `${from} no longer imports ${to}`,
      )
    }
  })
})

describe('the import law, broken once in every way', () => {
  const areas = [...law.keys()]
  const fileOf = (area: string): string =>
    `src/${area}${area === 'main' || area === 'index' ? '.ts' : '/x.ts'}`

  for (const [area, granted] of law) {
    if (granted.includes('*')) continue
    test(`${area} imports ${granted.join(', ') || 'nothing'}, and no other area`, () => {
      for (const other of areas) {
        // Inside an area, and inside one provider, everything may be imported.
        if (other === area || (area === 'providers' && areaOf(fileOf(other)) === area)) continue
        const fault = faultOf(fileOf(area), `#${fileOf(other).slice('src/'.length)}`)
        const toItsFolder = other === 'providers' && area.startsWith('providers/')
        const expected = granted.includes(other) || toItsFolder
        assert.equal(fault === undefined, expected, `${area} → ${other}: ${fault ?? 'no fault'}`)
      }
    })
  }

  const faults: readonly (readonly [from: string, specifier: string, message: RegExp])[] = [
    ['src/kernel/x.ts', 'node:fs', /nothing from outside but TypeBox/],
    ['src/template/x.ts', 'yaml', /is pure/],
    ['src/template/x.ts', 'node:crypto', /is pure/],
    ['src/client/x.ts', 'node:fs', /wherever fetch does/],
    ['src/query/x.ts', 'pg', /Kysely alone/],
    ['src/business/x.ts', 'kysely', /alone knows Kysely/],
    ['src/stores/x.ts', 'pg', /knows no driver/],
    ['src/stores/x.ts', 'node:sqlite', /knows no driver/],
    ['src/http/x.ts', '../plane/plane.ts', /by a relative path; write #plane/],
    ['src/nowhere/x.ts', '#kernel/error.ts', /has no row/],
    ['src/providers/billing/x.ts', '#providers/storage/x.ts', /ask the plane/],
    ['src/providers/billing/x.ts', '../storage/x.ts', /ask the plane/],
    ['src/providers/billing/x.ts', '#stores/sqlite/open.ts', /may not import/],
    ['src/providers/container-instance/x.ts', '#engines/containers/docker/client.ts', /main alone/],
    ['src/providers/data-share/x.ts', '#engines/copy/worker/worker-engine.ts', /main alone/],
    ['src/engines/containers/docker/x.ts', '../kubernetes/client.ts', /do not see each other/],
    ['src/engines/containers/engine.ts', './docker/client.ts', /does not know who implements it/],
    ['src/engines/containers/docker/x.ts', '#engines/copy/engine.ts', /may not import/],
    ['src/cli/commands/show.ts', '../../main.ts', /may not import/],
  ]
  for (const [from, specifier, message] of faults) {
    test(`${from} must not import ${specifier}`, () => {
      assert.match(faultOf(from, specifier) ?? 'no fault', message)
    })
  }

  test('what is granted passes', () => {
    assert.equal(faultOf('src/kernel/x.ts', 'typebox'), undefined)
    assert.equal(faultOf('src/main/x.ts', '#engines/containers/docker/client.ts'), undefined)
    assert.equal(faultOf('src/engines/containers/docker/x.ts', '../engine.ts'), undefined)
    assert.equal(faultOf('src/providers/billing/a/x.ts', '../b.ts'), undefined)
  })

  test('an import is seen in whatever form it is written', () => {
    const text = [
      "import { a } from '#a.ts'",
      "import type { b } from '#b.ts'",
      "import {\n  c,\n  type d,\n} from '#c.ts'",
      "import * as e from '#d.ts'",
      "import f, { g } from '#e.ts'",
      "import '#f.ts'",
      "export { h } from '#g.ts'",
      "export * from '#h.ts'",
      "const i = await import('#i.ts')",
      "const j: import('#j.ts').J = 1",
      "/* import { k } from '#k.ts' */",
    ].join('\n')
    assert.deepEqual(
      importsOf(text).toSorted(),
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => `#${name}.ts`),
    )
  })
})
