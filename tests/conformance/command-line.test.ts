/**
 * The published command line over TLS against a started installation: the three ways to sign in, each operation that it
 * has commands for, and what the guide does not cover: roles by name, tags, resources by type, errors as its users see
 * them. Debian combines it with a
 * newer library, with which its role commands fail before they send anything. `programs/mends` corrects that, and
 * nothing else.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import {
  findServer,
  howToGetServers,
  startServer,
} from '../../src/engines/databases/testing/servers.ts'
import { createBrowser } from '../../src/identity/testing/browser.ts'
import { requireOrSkip } from '../require.ts'
import { startForkedAz } from './forked-az.ts'
import { collectWitnesses, type Published, startForClients } from './published.ts'

const isThere = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'az')))

interface Item {
  readonly id: string
}

/** What a person does meanwhile in a browser, over http. */
async function enterDeviceCode(installation: Published, page: string, code: string) {
  const { signInName: name, password } = installation.owner
  const browser = createBrowser(installation.url)
  const entry = await browser.open(installation.url + new URL(page).pathname)
  const confirm = await browser.submit(entry, { user_code: code })
  const signIn = await browser.submit(confirm, { confirm: 'yes' })
  const consent = await browser.submit(signIn, { name, password, do: 'sign-in' })
  assert.match(consent.body, /Published command line/)
  await browser.submit(consent, { do: 'allow' })
}

test('the published command line does its work', { timeout: 580_000 }, async (t) => {
  if (!requireOrSkip(t, isThere, 'no az: `apt-get install azure-cli`')) return
  if (!requireOrSkip(t, findServer(18) !== undefined, howToGetServers)) return
  await using server = await startServer(18)
  const { host, port } = server.address
  const installation = await startForClients(t, { ARMATURE_POSTGRES_SERVERS: `*=${host}:${port}` })
  const settings = mkdtempSync(join(tmpdir(), 'armature-az-'))
  t.after(() => rmSync(settings, { recursive: true, force: true }))
  const { subscriptionId, httpsUrl: url, authorityFile } = installation
  const secret = readFileSync(join(installation.home, 'local-token.secret'), 'utf8').trim()
  const env = {
    ...process.env,
    AZURE_CONFIG_DIR: settings,
    // Without this it would report every command to its makers.
    AZURE_CORE_COLLECT_TELEMETRY: 'no',
    REQUESTS_CA_BUNDLE: authorityFile,
    // Only `login --identity` looks at it.
    MSI_ENDPOINT: `${url}/common/identity/token/${secret}`,
    PYTHONPATH: join(import.meta.dirname, 'programs/mends'),
  }
  const forks = startForkedAz(env)
  t.after(() => forks.end())
  /** Returns what it prints, parsed if it is JSON. */
  const az = async <T>(line: string, ...more: readonly string[]): Promise<T> => {
    const { code, out, error } = await forks.run([...line.split(' '), ...more])
    assert.equal(code, 0, `az ${line}: ${error}`)
    // Each caller names the type, and checks it.
    return (out.trim() === '' ? undefined : JSON.parse(out)) as T
  }
  const refused = async (line: string): Promise<string> => {
    const { code, error } = await forks.run(line.split(' '))
    assert.notEqual(code, 0, `az ${line} has to fail`)
    return error
  }

  const seen = collectWitnesses(import.meta.filename)
  const versions = await az<Record<string, string>>('version')
  const step = (operation: string, name: string, work: () => Promise<void>): Promise<void> =>
    t.test(name, async () => {
      await work()
      seen.add({ operation, client: 'az', version: versions['azure-cli'] ?? '', test: name })
    })

  await step('sign-in', 'a cloud is registered, and a person signs in by device code', async () => {
    const words = ['application', 'create', '--public', '--name', 'Published command line']
    const published = '04b07795-8ddb-461a-bbee-02f9e1bf7b46'
    await installation.cli([...words, '--client-id', published])
    const endpoints = { resourceManager: url, microsoftGraphResourceId: url }
    await az('cloud register --name armature --cloud-config', JSON.stringify({ endpoints }))
    await az('cloud set --name armature')
    const child = spawn('az', ['login', '--use-device-code'], { env })
    t.after(() => child.kill('SIGKILL'))
    let error = ''
    let entered: Promise<void> | undefined
    child.stderr.on('data', (chunk: Buffer) => {
      error += chunk
      const told = /the page (\S+) in .* enter the code ([A-Z]{4}-[A-Z]{4})/.exec(error)
      if (told !== null) entered ??= enterDeviceCode(installation, String(told[1]), String(told[2]))
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    await entered
    assert.equal(code, 0, error)
    const account = await az<{ id: string; user: object }>('account show')
    assert.deepEqual(account.user, { name: 'owner', type: 'user' })
    assert.equal(account.id, subscriptionId)
    const me = await az<{ displayName: string }>('ad signed-in-user show')
    assert.equal(me.displayName, 'Owner')
  })

  await step(
    'groups and resources',
    'groups are made, found, and missed as its users know it',
    async () => {
      const made = await az<{ tags: object }>('group create -n one -l local --tags a=b')
      assert.deepEqual(made.tags, { a: 'b' })
      assert.equal((await az<object[]>('group list --tag a=b')).length, 1)
      assert.equal(await az('group exists -n nowhere'), false)
      assert.match(await refused('group show -n nowhere'), /\(ResourceGroupNotFound\)/)
    },
  )

  await step(
    'role assignment',
    'roles are given by the names of people, applications and roles',
    async () => {
      const ada = ['principal', 'create', '--type', 'User', '--name', 'Ada', '--json']
      const made = await installation.cli([...ada, '--sign-in-name', 'ada@example.test'])
      const { principalId } = JSON.parse(made.out) as { principalId: string }
      assert.equal((await az<Item>('ad user show --id ada@example.test')).id, principalId)
      const role = 'role assignment'
      const given = await az<{ principalId: string }>(
        `${role} create --assignee ada@example.test --role Reader -g one`,
      )
      assert.equal(given.principalId, principalId)
      const identity = await az<{ clientId: string }>('identity create -n robot -g one')
      await az(`${role} create --assignee ${identity.clientId} --role Contributor -g one`)
      const shown = await az<{ principalName: string; roleDefinitionName: string }[]>(
        `${role} list -g one`,
      )
      assert.deepEqual(shown.map((one) => one.roleDefinitionName).sort(), ['Contributor', 'Reader'])
      assert.ok(shown.some((one) => one.principalName === 'ada@example.test'))
      await az(`${role} delete --assignee ada@example.test --role Reader -g one`)
      assert.deepEqual(await az(`${role} list --all --assignee ada@example.test`), [])
      assert.match(
        await refused(`${role} create --assignee nobody --role Reader -g one`),
        /Cannot find user or service principal/,
      )
    },
  )

  await step(
    'role assignment',
    'an application is made with a role, by name, and goes',
    async () => {
      const make = `ad sp create-for-rbac -n pipeline --role Reader --scopes /subscriptions/${subscriptionId}`
      const made = await az<{ appId: string; password: string }>(make)
      const again = await az<{ appId: string; password: string }>(
        'ad sp create-for-rbac -n pipeline',
      )
      assert.equal(again.appId, made.appId)
      assert.notEqual(again.password, made.password)
      const kept = await az<object[]>(`ad app credential list --id ${made.appId}`)
      assert.equal(kept.length, 1, 'the second took the place of the first')
      await az(`ad sp delete --id ${made.appId}`)
      assert.deepEqual(await az('ad app list --display-name pipeline'), [])
    },
  )

  await step('role assignment', 'a person and a group are made, joined and deleted', async () => {
    const name = 'grace@example.test'
    const user = await az<{ id: string }>(
      `ad user create --display-name Grace --user-principal-name ${name} --password correct-horse-battery`,
    )
    const group = await az<{ id: string }>(
      'ad group create --display-name crew --mail-nickname crew',
    )
    const again = await az<{ id: string }>(
      'ad group create --display-name crew --mail-nickname crew',
    )
    assert.equal(again.id, group.id)
    await az(`ad group member add --group crew --member-id ${user.id}`)
    const members = await az<{ id: string }[]>('ad group member list --group crew')
    assert.deepEqual(
      members.map(({ id }) => id),
      [user.id],
    )
    const given = await az<{ principalId: string }>(
      `role assignment create --assignee ${name} --role Reader -g one`,
    )
    assert.equal(given.principalId, user.id)
    await az(`role assignment delete --assignee ${name} --role Reader -g one`)
    await az(`ad group member remove --group crew --member-id ${user.id}`)
    await az('ad group delete --group crew')
    await az(`ad user delete --id ${name}`)
    assert.deepEqual(await az('ad group list --display-name crew'), [])
  })

  await step('locks', 'a lock holds a group until it is taken away', async () => {
    await az('group create -n held -l local')
    await az('lock create -n keep -t CanNotDelete -g held')
    assert.match(await refused('group delete -n held --yes'), /ScopeLocked/)
    assert.equal((await az<Item[]>('lock list -g held')).length, 1)
    await az('lock delete -n keep -g held')
    await az('group delete -n held --yes')
    assert.equal(await az('group exists -n held'), false)
  })

  await step('deployments', 'what a template would change, then the change', async () => {
    const file = join(settings, 'identity.json')
    writeFileSync(
      file,
      `{
        "$schema": "https://schema.example/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        // As people write them.
        "parameters": { "name": { "type": "string" } },
        "resources": [{
          "type": "Microsoft.ManagedIdentity/userAssignedIdentities",
          "apiVersion": "2023-01-31",
          "name": "[parameters('name')]",
          "location": "[resourceGroup().location]"
        }],
        "outputs": { "name": { "type": "string", "value": "[parameters('name')]" } }
      }`,
    )
    const given = `--template-file ${file} --parameters name=worker`
    const { changes } = await az<{ changes: { changeType: string }[] }>(
      `deployment group what-if -g one ${given} --no-pretty-print`,
    )
    assert.deepEqual(changes.filter((one) => one.changeType === 'Create').length, 1)
    const made = await az<{ properties: { provisioningState: string; outputs: object } }>(
      `deployment group create -g one -n first ${given}`,
    )
    assert.equal(made.properties.provisioningState, 'Succeeded')
    assert.deepEqual(made.properties.outputs, { name: { type: 'String', value: 'worker' } })
    await az('identity show -g one -n worker')
  })

  await step('deployments', 'a template spec is kept, and shown with its versions', async () => {
    const file = join(settings, 'spec.json')
    const $schema = 'https://schema.example/2019-04-01/deploymentTemplate.json#'
    writeFileSync(file, JSON.stringify({ $schema, contentVersion: '1.0.0.0', resources: [] }))
    await az(`ts create -n kept -g one -l local -v 1.0 --yes --template-file ${file}`)
    const shown = await az<{ versions: string[] }>('ts show -n kept -g one')
    assert.deepEqual(shown.versions, ['1.0'])
  })

  await step('operation definitions', 'a Swagger 2 document becomes an API', async () => {
    const file = join(settings, 'swagger.json')
    const responses = { 200: { description: 'All' } }
    const paths = { '/pets': { get: { operationId: 'list', responses } } }
    const info = { title: 'Pets', version: '1' }
    writeFileSync(file, JSON.stringify({ swagger: '2.0', info, host: 'pets.example', paths }))
    const publisher = '--publisher-email a@example.test --publisher-name A --sku-name Developer'
    await az(`apim create -n shop -g one -l local ${publisher}`)
    const api = '-g one -n shop --api-id pets'
    const format = `--specification-format Swagger --specification-path ${file}`
    const made = await az<{ serviceUrl: string }>(`apim api import ${api} --path pets ${format}`)
    assert.equal(made.serviceUrl, 'https://pets.example')
    const operations = await az<Item[]>(`apim api operation list ${api}`)
    assert.equal(operations.length, 1)
  })

  await step('identities', 'resources of any type: by id, by type, with tags', async () => {
    const type = 'Microsoft.ManagedIdentity/userAssignedIdentities'
    const { id } = await az<Item>(`resource show -g one -n robot --resource-type ${type}`)
    const written = await az<{ properties: { tags: object } }>(
      `tag create --resource-id ${id} --tags x=y`,
    )
    assert.deepEqual(written.properties.tags, { x: 'y' })
    assert.equal((await az<Item[]>('resource list --tag x=y')).length, 1)
    const names = await az<{ tagName: string }[]>('tag list')
    assert.deepEqual(
      names.map((one) => one.tagName),
      ['a', 'x'],
    )
    await az('identity delete -g one -n robot')
    assert.match(await refused(`resource show --ids ${id}`), /ResourceNotFound/)
  })

  await step('container group', 'a container is made, shown, and its log read', async () => {
    const image = '--image docker.io/library/nginx --cpu 1 --memory 1 --os-type Linux'
    const made = await az<{ provisioningState: string }>(`container create -g one -n web ${image}`)
    assert.equal(made.provisioningState, 'Succeeded')
    const shown = await az<{ instanceView: { state: string } }>('container show -g one -n web')
    assert.equal(shown.instanceView.state, 'Running')
    await az('container delete -g one -n web --yes')
  })

  await step('transactions', 'those of an invoice are listed', async () => {
    const file = join(settings, 'support.csv')
    const today = new Date().toISOString().slice(0, 10)
    const header = 'date,transactionAmount,productDescription'
    writeFileSync(file, `${header}\n${today},12.50,Support\n`)
    await installation.cli(['billing', 'import', file])
    await installation.cli(['billing', 'close'])
    const [account] = await az<{ name: string }[]>('billing account list')
    const of = `--account-name ${account?.name}`
    const [invoice] = await az<{ name: string; status: string }[]>(
      `billing invoice list ${of} --period-start-date 2026-01-01 --period-end-date 2100-01-01`,
    )
    assert.equal(invoice?.status, 'Due')
    const rows = await az<{ productDescription: string }[]>(
      `billing transaction list ${of} --invoice-name ${invoice.name}`,
    )
    assert.deepEqual(
      rows.map((row) => row.productDescription),
      ['Support'],
    )
  })

  await step('PostgreSQL servers', 'sizes of a location are listed by zone', async () => {
    const zones = await az<{ supportedFlexibleServerEditions: { name: string }[] }[]>(
      'postgres flexible-server list-skus -l local',
    )
    assert.equal(zones.length, 2)
    const table = await forks.run('postgres flexible-server list-skus -l local -o table'.split(' '))
    assert.match(table.out, /Standard_D2s_v3 +GeneralPurpose +2 +8 GiB/)
  })

  await step(
    'PostgreSQL servers',
    'a server is made with a firewall rule and a database, and goes',
    async () => {
      const servers = 'postgres flexible-server'
      const signIn = ['--admin-user', server.address.user, '--admin-password', server.password]
      const made = await az<{ databaseName: string; host: string }>(
        `${servers} create -n orders -g one -l local --public-access 10.0.0.1-10.0.0.9 --yes`,
        ...signIn,
      )
      assert.equal(made.databaseName, 'flexibleserverdb')
      assert.equal(made.host, host)
      await az(`${servers} db create -g one -s orders -d second`)
      const databases = await az<{ name: string }[]>(`${servers} db list -g one -s orders`)
      const names = databases.map((one) => one.name)
      assert.ok(names.includes('flexibleserverdb') && names.includes('second'))
      await az(`${servers} db delete -g one -s orders -d second --yes`)
      const rules = await az<{ endIpAddress: string }[]>(
        `${servers} firewall-rule list -g one -n orders`,
      )
      assert.deepEqual(
        rules.map((rule) => rule.endIpAddress),
        ['10.0.0.9'],
      )
      const level = await az<{ value: string }>(
        `${servers} parameter show -g one -s orders -n wal_level`,
      )
      assert.equal(level.value, 'logical')
      await az(`${servers} delete -n orders -g one --yes`)
    },
  )

  await step('errors', 'a template with an error is refused with the place of it', async () => {
    const template = {
      $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      resources: [],
      outputs: { wrong: { type: 'string', value: "[parameters('missing')]" } },
    }
    const file = join(settings, 'template.json')
    writeFileSync(file, JSON.stringify(template))
    const error = await refused(`deployment group create -g one --template-file ${file}`)
    assert.match(error, /InvalidTemplate/)
    assert.match(error, /missing/)
  })

  await step('sign-in', 'an application signs in, and a managed identity', async () => {
    const { clientId, clientSecret } = installation.owner
    const tenant = `--tenant ${installation.tenantId}`
    const login = `login --service-principal -u ${clientId} ${tenant} --password=${clientSecret}`
    for (const line of [login, 'login --identity']) {
      const [account] = await az<{ id: string; user: { type: string } }[]>(line)
      assert.equal(account?.id, subscriptionId)
      assert.equal(account.user.type, 'servicePrincipal')
      assert.equal((await az<Item[]>('group list')).length, 1)
      await az('logout')
    }
  })

  seen.compare()
})
