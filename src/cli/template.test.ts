/** `template evaluate`: values for people and programs, parameters, and failures that point at their place. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from './testing/run-cli.ts'

const evaluate = (...words: readonly string[]) => runCli(['template', 'evaluate', ...words])

test('a string is printed as it is, everything else as JSON', async () => {
  assert.equal((await evaluate("format('{0}-{1:D3}', 'a', 7)")).out, 'a-007\n')
  assert.equal((await evaluate("[concat('a', 'b')]", '--json')).out, '"ab"\n')
  assert.equal((await evaluate('add(1, 2)')).out, '3\n')
  assert.deepEqual(JSON.parse((await evaluate("createObject('a', createArray(1))")).out), {
    a: [1],
  })
  assert.equal((await evaluate('[[literal]')).out, '[literal]\n')
})

test('the place is made up, and follows the options', async () => {
  assert.match((await evaluate('resourceGroup().id', '-g', 'shop')).out, /\/resourceGroups\/shop$/m)
  assert.equal(
    (await evaluate('subscription().id', '--subscription', 'x')).out,
    '/subscriptions/x\n',
  )
  const refused = await evaluate('resourceGroup()', '--scope', 'tenant')
  assert.equal(refused.code, 1)
  assert.match(refused.error, /ExpressionFailed: resourceGroup\(\) is for deployments/)
  assert.match((await evaluate('newGuid()')).out, /^[0-9a-f-]{36}\n$/)
  assert.match((await evaluate("utcNow('yyyy')")).out, /^[0-9]{4}\n$/)
})

test('parameters: inline, from a file, later ones win', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-parameters-'))
  const file = join(folder, 'p.json')
  writeFileSync(file, '{"parameters": {"a": {"value": [1, 2]}, "b": {"value": "file"}}}')
  const text = "concat(string(parameters('A')), parameters('b'), string(parameters('c')))"
  const made = await evaluate(text, '-p', `@${file}`, '-p', 'B=line', '-p', 'c=5')
  assert.equal(made.out, '[1,2]line5\n', made.error)
  writeFileSync(file, '{"a": {"value": }')
  const refused = await evaluate(text, '-p', `@${file}`)
  assert.match(refused.error, /InvalidParameters: .*p\.json:1:17/)
  rmSync(folder, { recursive: true })
  assert.equal((await evaluate('1', '-p', 'nothing')).code, 2)
})

test('a failure shows the line and points at the place', async () => {
  const failed = await evaluate("concat('a',\n  div(1, 0))")
  assert.equal(failed.code, 1)
  assert.equal(failed.out, '')
  assert.equal(failed.error, 'ExpressionFailed: div() divides by zero\n    div(1, 0))\n    ^\n')
  const broken = await evaluate("[concat('a' 'b')]")
  assert.equal(
    broken.error,
    "InvalidExpression: expected ',' or ')', found '''\n  [concat('a' 'b')]\n              ^\n",
  )
})

test('the functions can be looked up', async () => {
  const all = await runCli(['template', 'functions', '--json'])
  assert.ok(JSON.parse(all.out).length > 100)
  const some = await runCli(['template', 'functions', 'resourceId'])
  assert.match(
    some.out,
    /^resourceId\(\[subscription\], \[resourceGroup\], type, names…\) +resource +The id/m,
  )
  assert.doesNotMatch(some.out, /^concat/m)
  assert.match((await runCli(['template', 'functions', 'nothing-like-it'])).error, /none/)
})
