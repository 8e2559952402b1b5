/** `template evaluate`: values for people and programs, parameters, and errors with their position. */

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

const machine = { type: 'Vendor.A/b', apiVersion: '1', name: "[parameters('name')]" }
const main = {
  $schema: 'https://x.example/subscriptionDeploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  parameters: {
    name: { type: 'string' },
    secret: { type: 'securestring', defaultValue: 'hunter2' },
  },
  variables: { never: 1 },
  resources: [
    machine,
    {
      type: 'Vendor.Resources/deployments',
      apiVersion: '1',
      name: 'inner',
      resourceGroup: 'rg',
      properties: {
        mode: 'Incremental',
        template: {
          $schema: 'deploymentTemplate.json',
          contentVersion: '1.0.0.0',
          resources: [{ ...machine, properties: { secret: "[parameters('secret')]" } }],
        },
      },
    },
    {
      ...machine,
      name: 'late',
      properties: { at: "[reference(resourceId('Vendor.A/b', parameters('name'))).id]" },
    },
  ],
}

test('expand: many files in one run, nested templates too, each file a line of JSON', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-expand-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 1))
    return path
  }
  const good = file('main.json', main)
  const reference = { keyVault: { id: '/v' }, secretName: 'kept' }
  file('main.parameters.json', { name: { value: 'web' }, secret: { reference } })
  const other = file('other.json', main)
  const broken = file('broken.json', '{ "resources": [')
  const made = await runCli(['template', 'expand', good, other, broken, '--json'])
  assert.equal(made.code, 1)
  const [first, second, third] = made.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const group = '/subscriptions/11111111-1111-4111-8111-111111111111'
  assert.deepEqual(
    first.resources.map((one: { id: string }) => one.id.replace(group, '')),
    [
      '/providers/Vendor.A/b/web',
      '/resourceGroups/rg/providers/Vendor.Resources/deployments/inner',
      '/resourceGroups/rg/providers/Vendor.A/b/web',
      '/providers/Vendor.A/b/late',
    ],
  )
  assert.match(first.resources[2].within, /deployments\/inner$/)
  assert.equal(first.resources[2].body.properties.secret, 'kept')
  assert.deepEqual(first.resources[3].waitsFor, [`${group}/providers/Vendor.A/b/web`])
  assert.deepEqual(first.problems, [])
  assert.match(second.problems[0].message, /'name' is required/)
  assert.equal(third.problems[0].line, 1)
  const shown = await runCli(['template', 'expand', other, '-p', 'name=x', '-p', 'secret=y'])
  assert.equal(shown.code, 0, shown.error)
  assert.match(shown.out, /other\.json: .*\/b\/x 1\n/)
  assert.match(shown.out, /\/b\/late 1 \(waits for .*\/b\/x\)/)
  assert.match((await runCli(['template', 'expand', other])).error, /other\.json:5:\d+: .*required/)
  assert.equal((await runCli(['template', 'expand'])).code, 2)
})

test('lint: errors and warnings with their places; parameters need not be given', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-lint-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'main.json')
  writeFileSync(path, JSON.stringify(main, null, 1))
  const fine = await runCli(['template', 'lint', path])
  assert.equal(fine.code, 0, fine.out)
  assert.deepEqual(
    fine.out
      .trim()
      .split('\n')
      .map((line) => line.replace(/^.*main\.json:\d+:\d+: /, '')),
    [
      'warning: parameters.secret.defaultValue: the default of a secure parameter can be read by everybody',
      'warning: variables.never: the variable is never used',
    ],
  )
  writeFileSync(path, JSON.stringify({ ...main, outputs: { o: { value: '[nothing()]' } } }))
  const wrong = await runCli(['template', 'lint', path, '--json'])
  assert.equal(wrong.code, 1)
  const { problems } = JSON.parse(wrong.out)
  assert.deepEqual(problems.map((one: { severity: string }) => one.severity).sort(), [
    'error',
    'warning',
    'warning',
  ])
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
