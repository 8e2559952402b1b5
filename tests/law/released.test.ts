/**
 * Released versions and migrations are frozen: the hashes of `released.json` against the tree. Each way to break
 * one is tried once. `npm run freeze` adds a new one, and never changes an existing hash.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type OpenApiDocument, openApiDocuments } from '#plane/openapi.ts'
import { declaredTable } from '../../tools/generate/declared-table.ts'
import {
  compareReleased,
  currentShapes,
  explainFaults,
  freeze,
  plainSql,
  readReleased,
  writeReleased,
} from '../../tools/generate/released.ts'

const text = readFileSync(join(import.meta.dirname, 'released.json'), 'utf8')
const released = readReleased(text)
const { routes, words } = declaredTable()
const documents = openApiDocuments(routes, words)
const group = 'Vendor.ContainerInstance 2025-09-01'
const path =
  '/subscriptions/{}/resourceGroups/{}/providers/Vendor.ContainerInstance/containerGroups/{}'

/** What the law says after a change of the container groups' document. */
function faultsAfter(change: (document: string) => string): string {
  const changed = documents.map((one): OpenApiDocument => {
    if (`${one.namespace} ${one.version}` !== group) return one
    const before = JSON.stringify(one.document)
    const after = change(before)
    assert.notEqual(after, before, 'the change has to change something')
    return { ...one, document: JSON.parse(after) as object }
  })
  return explainFaults(compareReleased(released, currentShapes(changed, words)))
}

describe('what is released', () => {
  test('is as it was', () => {
    assert.equal(
      explainFaults(compareReleased(released, currentShapes(documents, words))),
      '',
      'make a new one',
    )
  })

  test('says of each answer what is in it', () => {
    const open = documents
      .filter(({ document }) => JSON.stringify(document).includes('"x-envelope":true,"allOf":'))
      .map(({ namespace, version }) => `${namespace} ${version}`)
    assert.deepEqual(open, [], 'these documents have an answer that its type does not declare')
  })

  test('is written as it is read', () => {
    assert.equal(writeReleased(released), text)
  })

  test('a property with another type is caught, and every operation that carries it is named', () => {
    const found = faultsAfter((one) =>
      one.replaceAll('"restartPolicy":{"type":"string"', '"restartPolicy":{"type":"integer"'),
    )
    assert.match(found, /Released and changed: make a new one/)
    assert.ok(found.includes(`${group} PUT ${path}\n`), found)
  })

  test('a property that goes, and one that comes, are caught', () => {
    assert.match(
      faultsAfter((one) => one.replaceAll('"osType":', '"system":')),
      /make a new one/,
    )
  })

  test('an operation that goes is caught', () => {
    const found = faultsAfter((one) => one.replaceAll('"patch":', '"trace":'))
    assert.match(found, /Released and gone/)
    assert.match(found, /Not frozen yet/)
  })

  test('a status, a permission and an error body are held', () => {
    assert.match(
      faultsAfter((one) => one.replaceAll('"201":', '"202":')),
      /make a new one/,
    )
    assert.match(
      faultsAfter((one) => one.replaceAll('/containerGroups/write"', '/groups/write"')),
      /make a new one/,
    )
    assert.match(
      faultsAfter((one) => one.replaceAll('"additionalInfo":', '"moreInfo":')),
      /Vendor\.ContainerInstance 2025-09-01 Error\n/,
    )
  })

  test('a property that is added is frozen by itself, and leaves the shape as it was', () => {
    const added = faultsAfter((one) =>
      one.replaceAll('"osType":', '"later":{"type":"string","x-added":true},"osType":'),
    )
    assert.match(added, /^Not frozen yet/)
    assert.ok(added.includes(`${group} added /containerGroups properties.later`), added)
    const gone = faultsAfter((one) => one.replaceAll('"isCustomProvisioningTimeout":', '"custom":'))
    assert.match(gone, /^Released and gone/)
    assert.match(
      faultsAfter((one) => one.replaceAll('"x-added":true', '"x-other":true')),
      /make a new one/,
    )
  })

  test('a header that answers tell is frozen by itself', () => {
    const gone = faultsAfter((one) =>
      one.replaceAll(/"ETag":\{[^}]*\}/g, '"Other":{"x-added":true}'),
    )
    assert.match(gone, /^Released and gone/)
    assert.ok(gone.includes(`${group} added /containerGroups ETag`), gone)
    assert.ok(gone.includes(`${group} added /containerGroups Other`), gone)
    assert.doesNotMatch(gone, /make a new one/)
  })

  test('a status that is never answered is as it was released, and no other may go', () => {
    const without = (mark: object) => (one: string) =>
      JSON.stringify(JSON.parse(one), (key, part) => {
        if (key !== 'post' || part?.responses?.['204'] === undefined) return part
        const { 204: _gone, ...others } = part.responses
        return { ...part, ...mark, responses: others }
      })
    assert.equal(faultsAfter(without({ 'x-unanswered': ['204'] })), '')
    assert.match(faultsAfter(without({})), /make a new one/)
  })

  test('a property that bodies may leave out by now is as it was released, and no other may', () => {
    const relax = (mark: object) => (one: string) =>
      JSON.stringify(JSON.parse(one), (_name, part) => {
        if (!part?.required?.includes?.('mountPath')) return part
        const { mountPath, ...others } = part.properties
        return {
          ...part,
          required: part.required.filter((name: string) => name !== 'mountPath'),
          properties: { ...others, mountPath: { ...mountPath, ...mark } },
        }
      })
    assert.equal(faultsAfter(relax({ 'x-relaxed': true })), '')
    assert.match(faultsAfter(relax({})), /make a new one/)
  })

  test('words for people, names of path variables and the order of keys are free', () => {
    assert.equal(
      faultsAfter((one) => one.replaceAll('"summary":"', '"summary":"Now: ')),
      '',
    )
    assert.equal(
      faultsAfter((one) => one.replaceAll('containerGroupName', 'groupName')),
      '',
    )
  })

  test('freezing adds what is new and leaves a hash that is there as it is', () => {
    const frozen = freeze(new Map([['a', '1']]), new Map([...new Map([['a', '2']]), ['b', '3']]))
    assert.deepEqual([...frozen].toSorted(), [
      ['a', '1'],
      ['b', '3'],
    ])
  })
})

describe('a migration that is released', () => {
  const names = [...released.keys()].filter((name) => name.startsWith('migration '))

  test('is there for every area, number and dialect', () => {
    for (const area of ['core', 'identity', 'business', 'billing']) {
      for (const dialect of ['sqlite', 'postgres']) {
        assert.ok(names.includes(`migration 1 ${area} ${dialect}`), `${area} ${dialect}`)
      }
    }
  })

  test('is caught when its text changes, goes, or is not frozen', () => {
    const [name = ''] = names
    const current = new Map(released)
    current.set(name, 'another')
    assert.match(
      explainFaults(compareReleased(released, current)),
      /make a new one[\s\S]*migration 1/,
    )
    current.delete(name)
    assert.match(explainFaults(compareReleased(released, current)), /Released and gone/)
    current.set('migration 99 core sqlite', 'new')
    assert.match(
      explainFaults(compareReleased(released, current)),
      /npm run freeze[\s\S]*migration 99 core/,
    )
  })

  test('is the same text in another case and with other blanks, and another with another word', () => {
    assert.equal(
      plainSql('CREATE TABLE a (\n  b TEXT,  c int\n)'),
      plainSql('create table a(b text, c INT)'),
    )
    assert.notEqual(plainSql("default 'A'"), plainSql("default 'a'"))
    assert.notEqual(plainSql("default 'a  b'"), plainSql("default 'a b'"))
    assert.notEqual(plainSql('b text'), plainSql('b bigint'))
  })
})
