/** The deployment commands, as a user types them, against a started installation. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createResourceGroup } from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

let installation: Installation
let folder: string

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'armature-e2e-templates-'))
  installation = await startInstallation()
  await createResourceGroup(
    installation,
    `/subscriptions/${installation.subscriptionId}/resourceGroups/cli`,
  )
})

after(async () => {
  await installation[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const template = `{
  // Comments are allowed.
  "$schema": "https://schema.example/2019-04-01/deploymentTemplate.json#",
  "contentVersion": "1.0.0.0",
  "parameters": {
    "name": { "type": "string" },
    "count": { "type": "int", "defaultValue": 1 },
    "word": { "type": "securestring" }
  },
  "resources": [
    {
      "type": "Vendor.Secrets/vaults",
      "apiVersion": "2026-01-01",
      "name": "[parameters('name')]",
      "location": "local",
      "tags": { "count": "[string(parameters('count'))]" },
      "properties": {}
    },
    {
      "type": "Vendor.Secrets/vaults/secrets",
      "apiVersion": "2026-01-01",
      "name": "[concat(parameters('name'), '/word')]",
      "dependsOn": ["[parameters('name')]"],
      "properties": { "value": "[parameters('word')]" }
    }
  ],
  "outputs": { "named": { "type": "string", "value": "[toUpper(parameters('name'))]" } }
}
`

function written(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('create, watch, show, list, what-if and validate; the secure value is shown nowhere', async () => {
  const file = written('main.json', template)
  const given = written(
    'main.parameters.json',
    JSON.stringify({ parameters: { name: { value: 'vault-a' }, word: { value: 'hush-hush' } } }),
  )
  const at = ['-g', 'cli']
  const parameters = ['-f', file, '-p', `@${given}`]
  const valid = await installation.cli(['deployment', 'validate', 'one', ...at, ...parameters])
  assert.equal(valid.code, 0, valid.error)
  assert.equal(valid.out.trim().split('\n').length, 3, valid.out)
  const before = await installation.cli(['deployment', 'what-if', 'one', ...at, ...parameters])
  assert.equal(before.code, 0, before.error)
  assert.match(before.out, /^\+ .*vaults\/vault-a$/m)
  assert.match(before.out, /^2 to create\.$/m)
  const made = await installation.cli(['deployment', 'create', 'one', ...at, ...parameters])
  assert.equal(made.code, 0, made.error)
  assert.match(made.out, /^Succeeded +Vendor\.Secrets\/vaults\/secrets +word/m)
  assert.match(made.out, /output named +VAULT-A/)
  const again = [...parameters, '-p', 'count=2']
  const changed = await installation.cli(['deployment', 'what-if', 'one', ...at, ...again])
  assert.match(changed.out, /^~ .*vaults\/vault-a$/m)
  assert.match(changed.out, /^ {2}~ tags\.count: "1" => "2"$/m)
  // The vault, and its secret: writing a value creates a new version.
  assert.match(changed.out, /^2 to modify/m)
  const review = ['--format', 'markdown', '--exit-code']
  const told = await installation.cli(['deployment', 'what-if', 'one', ...at, ...again, ...review])
  assert.equal(told.code, 3, told.error)
  assert.match(told.out, /^\| `tags\.count` \| `"1"` \| `"2"` \|$/m)
  const watched = await installation.cli(['deployment', 'watch', 'one', ...at, '--json'])
  assert.equal(watched.code, 0, watched.error)
  const { properties } = JSON.parse(watched.out) as {
    properties: { dependencies: { resourceName: string; dependsOn: { resourceName: string }[] }[] }
  }
  assert.deepEqual(
    properties.dependencies.map((one) => [one.resourceName, one.dependsOn[0]?.resourceName]),
    [['word', 'vault-a']],
  )
  const list = await installation.cli(['deployment', 'list', ...at])
  assert.match(list.out, /^one +Succeeded +Incremental/m)
  const shown = await installation.cli(['deployment', 'show', 'one', ...at])
  assert.match(shown.out, /provisioningState +Succeeded/)
  const ended = await installation.cli(['deployment', 'cancel', 'one', ...at])
  assert.equal(ended.code, 1)
  assert.match(ended.error, /DeploymentNotActive/)
  for (const ran of [valid, before, made, changed, told, watched, list, shown]) {
    assert.ok(!`${ran.out}${ran.error}`.includes('hush-hush'))
  }
})

test('problems of the files are reported with their places, before anything is sent', async () => {
  const broken = template
    .replace("[concat(parameters('name'), '/word')]", "[concat(parameters('name'), '/word'")
    .replace('"type": "int"', '"type": "number"')
  const file = written('broken.json', broken.replace("'/word'\"", "'/word']\""))
  const ran = await installation.cli(['deployment', 'create', 'two', '-g', 'cli', '-f', file])
  assert.equal(ran.code, 1)
  assert.match(ran.error, /broken\.json:7:\d+: parameters\.count/)
  assert.match(ran.error, /broken\.json:\d+:\d+: resources\[1\]\.name/)
  assert.match(ran.error, /2 problems; nothing was sent/)
  const good = written('good.json', template)
  const unknown = await installation.cli([
    ...['deployment', 'create', 'two', '-g', 'cli', '-f', good, '-p', 'nam=x'],
  ])
  assert.equal(unknown.code, 2)
  assert.match(unknown.error, /declares no parameter `nam`; it has: name, count, word/)
  const text = await installation.cli([
    ...['deployment', 'create', 'two', '-g', 'cli', '-f', good, '-p', 'count=many'],
  ])
  assert.match(text.error, /`count` is of type int/)
})

test('a failed resource ends the command with 1 and its reason', async () => {
  const file = written(
    'refused.json',
    template.replace('"value": "[parameters(\'word\')]"', '"value": 5'),
  )
  const ran = await installation.cli([
    ...['deployment', 'create', 'three', '-g', 'cli', '-f', file],
    ...['-p', 'name=vault-b', '-p', 'word=x'],
  ])
  assert.equal(ran.code, 1)
  assert.match(ran.error, /InvalidTemplateDeployment/)
})
