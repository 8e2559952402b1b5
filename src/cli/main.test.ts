/** The dispatcher: every command can be found and has complete help, and wrong use ends with exit code 2. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNode, leavesOf, readCatalogue } from './catalogue.ts'
import { areaNames, loadArea } from './commands/demo/area.ts'
import { nounSummaries } from './nouns.ts'
import { runCli } from './testing/run-cli.ts'

const catalogue = readCatalogue()
const leaves = leavesOf(catalogue)

test('the commands are these', () => {
  assert.deepEqual(
    leaves.map((leaf) => leaf.name),
    [
      'backup',
      'completion',
      'demo',
      'env',
      'login',
      'logout',
      'logs',
      'open',
      'reset',
      'rest',
      'serve',
      'status',
      'stop',
      'token',
      'trust',
      'wait',
      'access check',
      'access explain',
      'access who-can',
      'activity export',
      'activity list',
      'api create',
      'api delete',
      'api list',
      'api operations',
      'api show',
      'api-service create',
      'api-service delete',
      'api-service list',
      'api-service show',
      'application create',
      'billing close',
      'billing import',
      'billing invoices',
      'billing refund',
      'billing transactions',
      'billing usage',
      'business changes',
      'business create',
      'business list',
      'business pay',
      'business pdf',
      'business post',
      'business show',
      'clock advance',
      'clock set',
      'clock show',
      'clock start',
      'clock stop',
      'config list',
      'config set',
      'config unset',
      'consent confirm',
      'consent give',
      'consent link',
      'container-group create',
      'container-group delete',
      'container-group exec',
      'container-group list',
      'container-group logs',
      'container-group metrics',
      'container-group restart',
      'container-group show',
      'container-group start',
      'container-group stop',
      'deployment cancel',
      'deployment create',
      'deployment list',
      'deployment show',
      'deployment validate',
      'deployment watch',
      'deployment what-if',
      'fault add',
      'fault clear',
      'fault list',
      'fault play',
      'group add-member',
      'group list-members',
      'group remove-member',
      'health annotate',
      'health list',
      'health mitigate',
      'health play',
      'health publish',
      'health resolve',
      'health show',
      'health update',
      'key rotate',
      'key status',
      'lock create',
      'lock delete',
      'lock list',
      'lock show',
      'migration cancel',
      'migration catch-up',
      'migration create',
      'migration cutover',
      'migration delete',
      'migration list',
      'migration report',
      'migration retry',
      'migration show',
      'migration start',
      'migration validate',
      'migration watch',
      'migration server create',
      'migration server delete',
      'migration server list',
      'migration server show',
      'principal create',
      'principal delete',
      'principal disable',
      'principal enable',
      'principal list',
      'principal revoke',
      'principal set-attribute',
      'principal set-password',
      'principal show',
      'principal secret add',
      'principal secret list',
      'principal secret remove',
      'principal session end',
      'principal session list',
      'resource-group create',
      'resource-group delete',
      'resource-group list',
      'resource-group show',
      'role assignment create',
      'role assignment delete',
      'role assignment list',
      'role definition list',
      'secret delete',
      'secret list',
      'secret set',
      'seed from-template',
      'share accept',
      'share add',
      'share consumers',
      'share create',
      'share invitations',
      'share invite',
      'share map',
      'share reinstate',
      'share reject',
      'share revoke',
      'share sources',
      'share server create',
      'share server delete',
      'share server list',
      'share server show',
      'share store create',
      'share store delete',
      'share store list',
      'share store show',
      'snapshot delete',
      'snapshot export',
      'snapshot import',
      'snapshot list',
      'snapshot restore',
      'snapshot save',
      'stack create',
      'stack delete',
      'stack export',
      'stack list',
      'stack show',
      'stack validate',
      'stack what-if',
      'subscription create',
      'subscription list',
      'subscription show',
      'synchronization cancel',
      'synchronization list',
      'synchronization show',
      'synchronization start',
      'synchronization watch',
      'tag list',
      'tag remove',
      'tag set',
      'tag show',
      'template evaluate',
      'template expand',
      'template functions',
      'template lint',
    ],
  )
})

test('every command is named as its path, and its help lists every argument, option and example', async () => {
  for (const leaf of leaves) {
    const command = await leaf.load()
    assert.equal(command.name, leaf.name)
    assert.notEqual(command.summary, '')
    assert.ok(command.examples.length > 0, `${leaf.name} has an example`)
    const words = leaf.name.split(' ')
    const help = await runCli([...words, '--help'])
    assert.equal(help.code, 0, leaf.name)
    assert.equal(help.error, '')
    assert.ok(help.out.startsWith(`${command.summary}\n`), leaf.name)
    for (const [name, spec] of Object.entries(command.options)) {
      assert.notEqual(spec.summary, '', `${leaf.name} --${name}`)
      const line = help.out
        .split('\n')
        .find((one) => one.includes(`--${name}`) && one.includes(spec.summary))
      assert.ok(line, `the help of ${leaf.name} has --${name}`)
    }
    if (words.at(-1) === 'delete') assert.match(help.out, /--yes/, leaf.name)
    for (const argument of command.arguments) {
      assert.match(help.out, new RegExp(`<${argument.name}> +\\S`))
    }
    for (const example of command.examples) {
      assert.ok(example.startsWith(leaf.name), `an example of ${leaf.name}: ${example}`)
      assert.ok(help.out.includes(`armature ${example}`))
    }
    assert.equal((await runCli([...words, '-h'])).out, help.out)
    assert.equal((await runCli(['help', ...words])).out, help.out)
  }
})

test('every noun is explained, and lists its verbs', async () => {
  const nouns = new Set(
    leaves.flatMap((leaf) => {
      const words = leaf.name.split(' ').slice(0, -1)
      return words.map((_, index) => words.slice(0, index + 1).join(' '))
    }),
  )
  assert.deepEqual([...nouns].sort(), Object.keys(nounSummaries).sort())
  for (const noun of nouns) {
    const help = await runCli([...noun.split(' '), '--help'])
    assert.equal(help.code, 0)
    for (const leaf of leaves) {
      if (!leaf.name.startsWith(`${noun} `)) continue
      const verb =
        leaf.name
          .slice(noun.length + 1)
          .split(' ')
          .at(-1) ?? ''
      assert.ok(help.out.includes(verb), `${noun} --help has ${verb}`)
    }
  }
})

test('the help of the program lists every command', async () => {
  for (const words of [[], ['--help'], ['-h'], ['help']]) {
    const help = await runCli(words)
    assert.equal(help.code, 0)
    for (const leaf of leaves) {
      assert.ok(help.out.includes(leaf.name.split(' ').at(-1) ?? ''), leaf.name)
    }
  }
})

test('the help of serve lists every setting', async () => {
  const { describeSettings } = await import('../config.ts')
  const { out } = await runCli(['serve', '--help'])
  for (const setting of describeSettings()) assert.ok(out.includes(setting.environment))
})

test('the version', async () => {
  assert.deepEqual(await runCli(['--version']), { code: 0, out: '1.2.3\n', error: '' })
})

const misuses: readonly [words: string, told: RegExp][] = [
  ['prinzipal', /unknown command `prinzipal`; did you mean `principal`\?/],
  ['principal creat', /unknown command `principal creat`; did you mean `create`\?/],
  ['role assignement list', /unknown command `role assignement`; did you mean `assignment`\?/],
  ['zzzzzz', /unknown command `zzzzzz`\n/],
  ['constructor', /unknown command `constructor`\n/],
  ['principal', /`principal` needs one more word: create, /],
  ['help zzzzzz', /unknown command `zzzzzz`/],
  ['--jsn', /unknown option `--jsn`/],
  ['status --jsn', /unknown option `--jsn`; did you mean `--json`\?/],
  ['status --constructor', /unknown option `--constructor`/],
  ['status --json=yes', /`--json` takes no value/],
  ['status extra', /`extra` is one argument too many/],
  ['rest GET', /<path> must be given/],
  ['rest GET /x --header', /`--header` needs a value/],
  ['rest GET /x --header --include', /`--header` needs a value; if `--include` is meant/],
  ['rest GET /x --header novalue', /`--header novalue` is not of the form `name: value`/],
  [
    'rest GET /x --url-parameter novalue',
    /`--url-parameter novalue` is not of the form `name=value`/,
  ],
  ['rest GET /x --body {}', /a GET has no body/],
  ['rest PUT /x --body {} --body {}', /`--body` is given more than once/],
  ['rest G/T /x', /`G\/T` is no method/],
  ['principal create --type Use --name a', /one of User, Group, .* did you mean `User`\?/],
  ['principal create --type User', /--name must be given/],
  ['principal create --type Group --name a --password b', /`--password` is for a User only/],
  ['role assignment create --scope a --role b --assignee c', /a scope begins with "\/"/],
  ['role assignment create', /--scope and --role and --assignee must be given/],
  ['token --client-id a', /`--client-id` and `--client-secret` are given together/],
  ['demo acess', /there is no area `acess`; did you mean `access`\?/],
]

test('misuse: a sentence, the usage, and exit code 2', async () => {
  for (const [words, told] of misuses) {
    const ran = await runCli(words.split(' '))
    assert.equal(ran.code, 2, words)
    assert.equal(ran.out, '', words)
    assert.match(ran.error, told)
    assert.match(ran.error, /Help: +armature/, words)
  }
})

test('get is understood as show', () => {
  const found = findNode(catalogue, ['principal', 'get', 'x'])
  assert.deepEqual([found.path, found.rest], [['principal', 'show'], ['x']])
})

test('every area of the demo is named as its file', async () => {
  assert.ok(areaNames().includes('access'))
  for (const name of areaNames()) {
    const area = await loadArea(name)
    assert.equal(area.name, name)
    assert.ok(area.operations.length > 0)
  }
})
