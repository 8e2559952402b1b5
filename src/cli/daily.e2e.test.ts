/**
 * Everyday use of the command line: output formats, defaults, questions, a server in the background, and small
 * commands.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type RunOptions, runCli } from './testing/run-cli.ts'
import { root, startServer } from './testing/start-server.ts'

type Runs = (words: readonly string[], options?: RunOptions) => Promise<string>

/** `runs` returns the output of a command that must succeed, `fails` the message of one that must fail. */
function commandsOf(home: string): { readonly runs: Runs; readonly fails: Runs } {
  const environment = { ARMATURE_HOME: home }
  const run = (words: readonly string[], options: RunOptions = {}) =>
    runCli(words, { environment, ...options })
  return {
    async runs(words, options) {
      const { code, out, error } = await run(words, options)
      assert.equal(code, 0, `${words.join(' ')}: ${error}`)
      return out
    },
    async fails(words, options) {
      const { code, out, error } = await run(words, options)
      assert.equal(code, 1, `${words.join(' ')}: ${out}${error}`)
      return error
    },
  }
}

test('answers in each form, defaults, and questions', async () => {
  await using server = await startServer({ ARMATURE_CONTAINERS: 'simulated' })
  const { runs, fails } = commandsOf(server.home)
  await runs(['resource-group', 'create', 'demo', '--tag', 'owner=ada'])
  assert.match(await runs(['resource-group', 'show', 'demo', '-o', 'yaml']), /^name: demo$/m)
  assert.equal(await runs(['resource-group', 'list', '-o', 'tsv']), 'demo\tlocal\tSucceeded\n')
  assert.equal(await runs(['resource-group', 'list', '--query', '[0].tags.owner']), 'ada\n')
  const list = ['rest', 'GET', '/subscriptions?api-version=2020-01-01']
  assert.equal(await runs([...list, '--query', 'length(value)', '--json']), '1\n')

  const create = ['container-group', 'create', 'web', '--image', 'nginx']
  assert.match(await fails([...create, '-g', 'typo']), /no resource group typo.*--yes/)
  assert.match(await fails([...create, '-g', 'typo'], { answer: 'n' }), /Make it\? \[y\/N\]/)
  assert.equal(await runs(['resource-group', 'list', '-o', 'tsv', '--query', '[].name']), 'demo\n')
  await runs(['config', 'set', 'resource-group', 'demo'])
  await runs(['config', 'set', 'output', 'json'])
  assert.equal(JSON.parse(await runs(create)).name, 'web')
  await runs(['config', 'unset', 'output'])
  assert.equal(await runs(['config', 'list']), '  resource-group  demo\n')
  await runs(['container-group', 'create', 'web', '--image', 'nginx', '-g', 'made', '--yes'])

  assert.match(await fails(['resource-group', 'delete', 'made'], { answer: '' }), /Nothing is done/)
  await runs(['resource-group', 'show', 'made'])
  await runs(['resource-group', 'delete', 'made'], { answer: 'yes' })
  await fails(['resource-group', 'show', 'made'])
})

test('locks, tags, API management and the business application have their nouns', async () => {
  await using server = await startServer({ ARMATURE_CONTAINERS: 'simulated' })
  const { runs, fails } = commandsOf(server.home)
  const words = (line: string): Promise<string> => runs(line.split(' '))
  await words('resource-group create demo')
  await words('lock create keep -g demo --notes audit')
  assert.match(await words('lock list -g demo'), /^keep +CanNotDelete +audit/m)
  assert.match(await fails(['resource-group', 'delete', 'demo']), /ScopeLocked/)
  assert.equal(await words('lock show keep -g demo --query properties.level'), 'CanNotDelete\n')
  await words('lock delete keep -g demo')

  await words('tag set owner=ada stage=test -g demo')
  assert.equal(await words('tag remove Stage -g demo'), '  owner  ada\n')
  assert.equal(await words('tag show -g demo -o tsv'), 'ada\n')
  assert.match(await words('tag list'), /^owner +ada$/m)

  await words('api-service create pets -g demo')
  await words('api create cats -g demo -s pets --path cats')
  assert.equal(await words('api list -g demo -s pets -o tsv'), 'cats\tcats\tcats\n')
  assert.equal(await words('api operations cats -g demo -s pets -o json'), '[]\n')
  await words('api delete cats -g demo -s pets')
  await words('api-service delete pets -g demo')
  assert.equal(await words('api-service list -g demo -o json'), '[]\n')

  const create = (collection: string, body: object): Promise<string> =>
    runs(['business', 'create', collection, '--body', JSON.stringify(body), '--query', 'id'])
  await create('companies', { name: 'Paper and Sons' })
  const customerId = (await create('customers', { displayName: 'Adatum' })).trim()
  await fails(['business', 'show', 'customers', 'nobody'])
  assert.match(await words('business list customers'), /Adatum/)
  const itemId = (await create('items', { displayName: 'Chair', unitPrice: 50 })).trim()
  const draft = (
    await create('salesInvoices', { customerId, salesInvoiceLines: [{ itemId, quantity: 1 }] })
  ).trim()
  const number = await words(`business post salesInvoices ${draft} --query number -o tsv`)
  await words(`business pay ${number.trim()} --amount 50`)
  const paid = `business show salesInvoices ${number.trim()} --query status`
  assert.equal(await words(paid), 'Paid\n')
})

test('a backup of a running server is a whole store of one moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-backup-'))
  const file = join(folder, 'monday.db')
  try {
    await using server = await startServer({
      ARMATURE_LOG_REQUESTS: 'true',
      ARMATURE_LOG_LEVEL: 'info',
    })
    const { runs, fails } = commandsOf(server.home)
    await runs(['resource-group', 'create', 'kept'])
    await runs(['backup', file])
    assert.match(await fails(['backup', file]), /FileExists/)
    await runs(['resource-group', 'create', 'later'])
    assert.match(server.output(), /"path":"[^"]*resourceGroups\/kept","type":"[^"]+","status":201/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    await server.stop()
    for (const name of ['armature.db-wal', 'armature.db-shm']) {
      rmSync(join(server.home, name), { force: true })
    }
    copyFileSync(file, join(server.home, 'armature.db'))
    await using again = await startServer({ ARMATURE_HOME: server.home })
    const groups = await commandsOf(server.home).runs(['resource-group', 'list', '-o', 'tsv'])
    assert.equal(groups, 'kept\tlocal\tSucceeded\n')
    assert.notEqual(again.url, '')
    assert.match(await commandsOf(folder).fails(['backup', 'x.db']), /NoStore.*pg_dump/s)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a server in the background: started, waited for, read, stopped', async () => {
  const home = mkdtempSync(join(tmpdir(), 'armature-detached-'))
  const { NODE_TEST_CONTEXT: _, ...outside } = process.env
  const environment = { ...outside, ARMATURE_HOME: home, ARMATURE_CONTAINERS: 'simulated' }
  const armature = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(root, 'bin/armature.mjs'), ...words], {
      env: environment,
    })
  const { runs, fails } = commandsOf(home)
  try {
    assert.match(await fails(['wait', '--timeout', '0']), /not ready/)
    const names = Array.from({ length: 20 }, (_, index) => `seeded-${index}`)
    const seed = join(home, 'seed.json')
    writeFileSync(seed, JSON.stringify({ groups: names.map((name) => ({ name })) }))
    const { stdout } = await armature('serve', '--detach', '--port', '0', '--seed', seed)
    assert.match(stdout, /^Armature is ready at http:/)
    assert.match(await runs(['principal', 'list']), /seeded-19/, 'ready is with the whole seed')
    await runs(['wait', '--timeout', '0'])
    await runs(['wait', '/subscriptions?api-version=2020-01-01'])
    await assert.rejects(armature('serve', '--detach', '--port', '0'), /AlreadyRunning/)
    assert.match(await runs(['logs']), /Sign-in page/)
    assert.equal((await runs(['logs', '--tail', '0'])).trim(), '')
    assert.match(await runs(['open', '--print']), /^http:\/\/\S+:\d+$/m)
    await runs(['stop'])
    assert.match(await fails(['status']), /NotRunning/)
    await runs(['stop'])
  } finally {
    await runs(['stop'])
    rmSync(home, { recursive: true })
  }
})
