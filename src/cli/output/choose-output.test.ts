/** Output formats: every command has the same options. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../command.ts'
import { runCli } from '../testing/run-cli.ts'
import { chooseOutput, recordText } from './choose-output.ts'

const groups = [
  { name: 'a', location: 'west', tags: { owner: 'ada' } },
  { name: 'b\u001b[2J', location: 'east' },
]

async function rendered(wish: object, value: unknown = groups): Promise<string> {
  return (await chooseOutput({ json: false, ...wish })).render(value)
}

test('what an expression picks is written in each form', async () => {
  const query = '[].{n:name,l:location}'
  assert.equal(await rendered({ query, output: 'tsv' }), 'a\twest\nb\\u001b[2J\teast\n')
  assert.equal(await rendered({ query }), 'N           L\na           west\nb\\u001b[2J  east\n')
  assert.deepEqual(JSON.parse(await rendered({ query, output: 'json' })), [
    { n: 'a', l: 'west' },
    { n: 'b\u001b[2J', l: 'east' },
  ])
  assert.equal(await rendered({ query: '[0].tags', output: 'yaml' }), 'owner: ada\n')
  assert.equal(await rendered({ query: '[0].tags' }), '  owner  ada\n')
  assert.equal(await rendered({ query: '[0].name' }), 'a\n')
  assert.equal(await rendered({ query: 'nothing' }), '')
  assert.equal(await rendered({ query: 'nothing', json: true }), 'null\n')
})

test('what is nested in a record is shown line by line, and what is empty is not', () => {
  const group = { name: 'web', tags: {}, properties: { provisioningState: 'Succeeded', on: ['a'] } }
  const lines = recordText(group).split('\n')
  assert.deepEqual(
    lines.map((line) => line.trim().split(/\s{2,}/)),
    [
      ['name', 'web'],
      ['properties.provisioningState', 'Succeeded'],
      ['properties.on', '["a"]'],
    ],
  )
})

test('names and texts of a server neither steer a terminal nor turn around what is read', async () => {
  const hostile = { 'output \u001b[2Ja': 'ok', right: '\u202etxt.exe', set: '\u009b31m' }
  const shown = /^[\n -~]*$/
  for (const wish of [{ query: '@' }, { query: '[@]' }, { output: 'yaml' }, { json: true }]) {
    const text = await rendered(wish, hostile)
    assert.match(text, shown, JSON.stringify(wish))
  }
  assert.deepEqual(JSON.parse(await rendered({ output: 'yaml' }, hostile)), hostile)
  assert.match(recordText(hostile), shown)
  assert.match(recordText(hostile), /output \\u001b\[2Ja/)
})

test('what cannot be meant is refused', async () => {
  await assert.rejects(chooseOutput({ json: true, output: 'yaml' }), UsageError)
  await assert.rejects(chooseOutput({ json: false, query: '[' }), UsageError)
  const output = await chooseOutput({ json: false, query: 'abs(name)' })
  assert.throws(() => output.render({ name: 'a' }), UsageError)
})

test('a wrong form is refused before any request is sent', async () => {
  const { code, error } = await runCli(['resource-group', 'list', '--output', 'xml'])
  assert.equal(code, 2)
  assert.match(error, /`--output` is one of table, json, yaml, tsv, not `xml`/)
})
