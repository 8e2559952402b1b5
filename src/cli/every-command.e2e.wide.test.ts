/**
 * Runs every command in each output format: JSON and YAML are parsed, TSV is no JSON, and a query selects from the
 * answer. A new command must be run here, or be listed with the reason.
 */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { isLong } from '../../tests/long.ts'
import { leavesOf, readCatalogue } from './catalogue.ts'
import { openHome } from './home.ts'
import { outputFormats } from './output/choose-output.ts'
import { logFileOf } from './running-server.ts'
import { runCli } from './testing/run-cli.ts'
import { startServer } from './testing/start-server.ts'

/** Commands that cannot be run here, and where they are tested. */
const elsewhere: Readonly<Record<string, string>> = {
  serve: 'it is the server; `daily.e2e.test.ts` starts it in the background',
  stop: 'it ends the server; `daily.e2e.test.ts`',
  login: 'it waits for a person; `cli.e2e.test.ts`',
  trust: 'it needs https; `tests/e2e/tls.test.ts`',
}

/** The program in the container writes its output. */
const passesThrough = ['container-group exec']

/** They answer nothing: their messages are for people, on standard error. */
const silent = [
  'api delete',
  'api-service delete',
  'backup',
  'business pdf',
  'config set',
  'config unset',
  'container-group delete',
  'container-group restart',
  'container-group start',
  'container-group stop',
  'deployment cancel',
  'fault clear',
  'group add-member',
  'group remove-member',
  'lock delete',
  'logout',
  'migration delete',
  'migration server delete',
  'principal delete',
  'principal revoke',
  'principal secret remove',
  'principal session end',
  'principal set-password',
  'reset',
  'resource-group delete',
  'role assignment delete',
  'secret delete',
  'share reject',
  'share server delete',
  'share store delete',
  'snapshot delete',
  'snapshot export',
  'stack delete',
  'wait',
]

/**
 * A line is a command, with `{names}` replaced. `NAME = line` keeps its answer. After `!` the server refuses the
 * command, because its resource does not exist here.
 */
const lines = `
status
env
completion bash
wait
open --print
logs
token
config set location westus
config list
config unset location

resource-group create g{n}
resource-group show g{n}
resource-group list
ID = resource-group show g{n} --query id
rest GET {ID}?api-version=2021-04-01
lock create keep -g g{n}
lock show keep -g g{n}
lock list -g g{n}
lock delete keep -g g{n}
tag set owner=ada stage=test -g g{n}
tag show -g g{n}
tag list
tag remove stage -g g{n}

container-group create web -g g{n} --image nginx
container-group list
container-group show web -g g{n}
container-group logs web -g g{n}
container-group metrics web -g g{n}
container-group exec web -g g{n} --command ls
container-group restart web -g g{n}
container-group stop web -g g{n}
container-group start web -g g{n}
container-group delete web -g g{n}

template evaluate add(1,2)
template expand {folder}/main.json
template functions date
template lint {folder}/main.json
seed from-template {folder}/main.json -g g{n}
deployment validate first -g g{n} -f {folder}/main.json
deployment what-if first -g g{n} -f {folder}/main.json
deployment create first -g g{n} -f {folder}/main.json
deployment list -g g{n}
deployment show first -g g{n}
deployment watch first -g g{n}
!deployment cancel first -g g{n}
stack validate shop -g g{n} -f {folder}/main.json --on-unmanage delete-resources
stack what-if shop -g g{n} -f {folder}/main.json --on-unmanage delete-resources
stack create shop -g g{n} -f {folder}/main.json --on-unmanage delete-resources
stack list -g g{n}
stack show shop -g g{n}
stack export shop -g g{n}
stack delete shop -g g{n} --on-unmanage delete-resources

api-service create pets{n} -g g{n}
api-service list -g g{n}
api-service show pets{n} -g g{n}
api create cats -g g{n} -s pets{n} --path cats
api list -g g{n} -s pets{n}
api show cats -g g{n} -s pets{n}
api operations cats -g g{n} -s pets{n}
api delete cats -g g{n} -s pets{n}
CLIENT = application create --name redirect-{n} --redirect-uri {url}/consent/callback --query clientId
application create --name web-{n} --redirect-uri https://app.example.org/{n}
PROVIDER = rest PUT {ID}/providers/Vendor.ApiManagement/service/pets{n}/authorizationProviders/own --api-version 2024-05-01 --body @{folder}/provider.json --query id
AUTHORIZATION = rest PUT {PROVIDER}/authorizations/me --api-version 2024-05-01 --body @{folder}/authorization.json --query id
consent link me -g g{n} -s pets{n} -p own
!consent give me -g g{n} -s pets{n} -p own
!consent confirm me none -g g{n} -s pets{n} -p own
api-service delete pets{n} -g g{n}

principal create --type ServicePrincipal --name ci-{n}
CI = principal list --name ci-{n} --query [0].id
principal create --type User --name ada-{n}
ADA = principal list --name ada-{n} --query [0].id
principal create --type Group --name team-{n}
TEAM = principal list --name team-{n} --query [0].id
principal show {CI}
principal list
principal disable {CI}
principal enable {CI}
principal revoke {CI}
principal set-attribute {CI} level_{n} --value 4
principal set-password {ADA} --password @{folder}/password
principal secret add {CI} --name laptop
principal secret list {CI}
KEY = principal secret list {CI} --query [0].id
principal secret remove {CI} {KEY}
principal session list
!principal session end 8a6e0804-2bd0-4672-b79d-d97027f9071a
group add-member {TEAM} {ADA}
group list-members {TEAM}
group remove-member {TEAM} {ADA}
role definition list
role assignment create --scope {ID} --role Reader --assignee {CI}
role assignment list --scope {ID}
access check Vendor.Resources/subscriptions/resourceGroups/read --scope {ID} --principal {CI}
access who-can Vendor.Resources/subscriptions/resourceGroups/read --scope {ID}
role assignment delete --scope {ID} --role Reader --assignee {CI}
activity list --top 5
activity export --since 1h -g g{n}
access explain {refused}
principal delete {CI}
subscription create --name more-{n}
subscription list
subscription show
secret set word --vault v{n} -g g{n} --value @{folder}/password --yes
secret list --vault v{n} -g g{n}
secret delete word --vault v{n} -g g{n}

health publish Slow{n} --id EVENT-{n} --summary Soon --impact "Container Instances=Local"
health show EVENT-{n}
health annotate EVENT-{n} --summary Looking
health update EVENT-{n} --level Critical
health mitigate EVENT-{n} --region Local --summary Moved
health list
health resolve EVENT-{n} --summary Over
health play {folder}/incident.yaml --id DRILL-{n} --speed 1000000

billing usage
billing import {folder}/rows-{n}.csv
billing transactions
TRANSACTION = billing transactions --query "[?properties.transactionAmount.value>\`0\`]|[0].name"
billing refund {TRANSACTION} --amount 1
billing close
billing invoices

business create companies --body {"name":"Company-{n}"}
business list companies
CUSTOMER = business create customers --company Company-{n} --body {"displayName":"Adatum"} --query id
ITEM = business create items --company Company-{n} --body {"displayName":"Chair","unitPrice":50} --query id
DRAFT = business create salesInvoices --company Company-{n} --body {"customerId":"{CUSTOMER}","salesInvoiceLines":[{"itemId":"{ITEM}","quantity":1}]} --query id
business show salesInvoices {DRAFT} --company Company-{n}
business post salesInvoices {DRAFT} --company Company-{n}
INVOICE = business list salesInvoices --company Company-{n} --query [0].number
business pay {INVOICE} --amount 50 --company Company-{n}
business changes salesInvoices {folder}/{n}.link --company Company-{n}
business pdf salesInvoices {INVOICE} {folder}/{n}.pdf --company Company-{n}

share store create given{n} -g g{n}
share server create lake{n} -g g{n} --duckdb
share server list -g g{n}
share server show lake{n} -g g{n}
share server delete lake{n} -g g{n}
share store list -g g{n}
share store show given{n} -g g{n}
share create sales -g g{n} -a giver{n}
share add files -g g{n} -a giver{n} --share sales --kind BlobFolder -p storageAccountName=given{n} -p containerName=data -p prefix=in
TENANT = status --query tenantId
share invite all -g g{n} -a giver{n} --share sales --tenant {TENANT}
INVITATION = share invite ann -g g{n} -a giver{n} --share sales --tenant {TENANT}
share invitations
share accept theirs -g g{n} -a taker{n} --invitation {INVITATION}
share sources theirs -g g{n} -a taker{n}
share consumers sales -g g{n} -a giver{n}
share map files --to theirs -g g{n} -a taker{n} --kind BlobFolder -p storageAccountName=given{n} -p containerName=got -p prefix=files
synchronization start theirs -g g{n} -a taker{n} --full
synchronization watch theirs -g g{n} -a taker{n}
synchronization list theirs -g g{n} -a taker{n}
synchronization show theirs -g g{n} -a taker{n}
synchronization cancel theirs -g g{n} -a taker{n}
CONSUMER = share consumers sales -g g{n} -a giver{n} --query [0].name
share revoke sales {CONSUMER} -g g{n} -a giver{n}
share reinstate sales {CONSUMER} -g g{n} -a giver{n}
LEFT = share invite left -g g{n} -a giver{n} --share sales --tenant {TENANT}
share reject {LEFT}
share store delete given{n} -g g{n}

migration server create to{n} -g g{n} --host 127.0.0.1 --port 1 --user postgres --password @{folder}/password
migration server list -g g{n}
migration server show to{n} -g g{n}
migration create move -g g{n} -s to{n} --source 127.0.0.1:2@postgres -d orders --start-later --skip-validation --source-password @{folder}/password --target-password @{folder}/password
migration list -g g{n} -s to{n} --all
migration show move -g g{n} -s to{n}
migration report move -g g{n} -s to{n}
!migration cutover move -g g{n} -s to{n}
!migration catch-up move -g g{n} -s to{n}
!migration retry move -g g{n} -s to{n}
migration start move -g g{n} -s to{n} --at 2099-01-31T22:00:00Z
migration cancel move -g g{n} -s to{n}
!migration watch move -g g{n} -s to{n}
!migration validate check -g g{n} -s to{n} --source 127.0.0.1:2@postgres -d orders --source-password @{folder}/password --target-password @{folder}/password
migration delete move -g g{n} -s to{n}
migration delete check -g g{n} -s to{n}
migration server delete to{n} -g g{n}

key status
key rotate
demo access
backup {folder}/{n}.db
snapshot save s{n}
snapshot list
snapshot export s{n} {folder}/{n}.state
snapshot import i{n} {folder}/{n}.state
snapshot restore s{n}
snapshot delete s{n}
fault add --status 429 --count 1 --type Features/features
fault list
fault play throttled
fault clear
clock show
clock stop
clock advance 1m
clock start
clock set 2031-01-0{at}T12:00:00Z
resource-group delete g{n} --yes
reset
logout
`

const passes = [
  ...outputFormats.map((format) => ({ name: format as string, format, query: false })),
  { name: 'query', format: 'json' as const, query: true },
].filter(({ name }) => isLong || name === 'tsv' || name === 'query')

test('every command answers in every form, and to a query', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-every-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await using server = await startServer({
    ARMATURE_CONTAINERS: 'simulated',
    ARMATURE_CONTROL: 'local',
    ARMATURE_CLOCK: 'manual',
    ARMATURE_THROTTLE: 'false',
  })
  writeFiles(folder)
  writeFileSync(logFileOf(openHome(server.home)), 'one line\n')
  const environment = { ARMATURE_HOME: server.home }
  const walked = new Set<string>()
  const wrong: string[] = []
  const names = leavesOf(readCatalogue()).map(({ name }) => name)

  for (const [at, { name: n, format, query }] of passes.entries()) {
    const refused = await refusedRequest(environment, server.url, n)
    const values: Record<string, string> = { n, at: `${at + 1}`, folder, url: server.url, refused }
    const given = join(server.home, 'storage', `given${n}`, 'data', 'in')
    mkdirSync(given, { recursive: true })
    writeFileSync(join(given, 'a.txt'), 'one\n')
    for (const line of lines.split('\n')) {
      if (line.trim() === '') continue
      const [, variable, mark, text = ''] = /^(?:([A-Z]+) = )?(!?)(.*)$/.exec(line) ?? []
      const words = wordsOf(text.replaceAll(/\{([A-Za-z]+)\}/g, (_, name) => values[name] ?? ''))
      const name = names.find((one) => `${words.join(' ')} `.startsWith(`${one} `)) ?? text
      const form = query ? ['--output', 'json', '--query', 'type(@)'] : ['--output', format]
      const ran = await runCli(variable === undefined ? [...words, ...form] : words, {
        environment,
      })
      const where = `${n}: ${words.join(' ')}`
      if (variable !== undefined) {
        values[variable] = ran.out.trim()
        if (ran.code !== 0 || ran.out.trim() === '') wrong.push(`${where}: ${ran.error}`)
        continue
      }
      walked.add(name)
      if (mark === '!') {
        if (ran.code === 0) wrong.push(`${where}: not refused`)
      } else if (ran.code !== 0) wrong.push(`${where}: ${ran.code} ${ran.error}${ran.out}`)
      if (passesThrough.includes(name)) continue
      const problem = problemOf(ran.out, format, query, silent.includes(name) || mark === '!')
      if (problem !== undefined) wrong.push(`${where}: ${problem}:\n${ran.out.slice(0, 300)}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual(
    names.filter((name) => !walked.has(name)),
    Object.keys(elsewhere).sort((a, b) => names.indexOf(a) - names.indexOf(b)),
  )
})

/** The correlation id of a request by somebody without a role. */
async function refusedRequest(
  environment: Record<string, string>,
  url: string,
  n: string,
): Promise<string> {
  const create = ['principal', 'create', '--type', 'ServicePrincipal', '--name', 'nobody', '--json']
  const { clientId, clientSecret } = JSON.parse((await runCli(create, { environment })).out)
  const sign = ['token', '--client-id', clientId, '--client-secret', 'env:NOBODY']
  const { out } = await runCli(sign, { environment: { ...environment, NOBODY: clientSecret } })
  const shown = await runCli(['status', '--query', 'subscriptionId'], { environment })
  const group = `/subscriptions/${shown.out.trim()}/resourceGroups/g${n}?api-version=2021-04-01`
  const { headers } = await fetch(`${url}${group}`, {
    headers: { authorization: `Bearer ${out.trim()}` },
  })
  return headers.get('x-ms-correlation-request-id') ?? ''
}

/** Words between spaces. A quoted word may contain spaces. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"(?=\s|$)|\S+/g)].map(([word, inner]) => inner ?? word)
}

function problemOf(
  out: string,
  format: (typeof outputFormats)[number],
  isQuery: boolean,
  mayBeEmpty: boolean,
): string | undefined {
  if (out === '')
    return mayBeEmpty || format === 'table' || format === 'tsv' ? undefined : 'nothing'
  if (!out.endsWith('\n')) return 'its last line does not end'
  if (format === 'table') return undefined
  if (format === 'tsv') return /^[{[]$/m.test(out) ? 'JSON in the place of TSV' : undefined
  if (format === 'yaml') {
    const documents = parseAllDocuments(out)
    if (documents.length === 0) return 'no document'
    return documents.flatMap(({ errors }) => errors).map(({ message }) => message)[0]
  }
  const answers = readJson(out)
  if (answers === undefined) return 'no JSON'
  const types = ['array', 'boolean', 'null', 'number', 'object', 'string']
  const isPicked = answers.every((one) => types.includes(String(one)))
  return isQuery && !isPicked ? 'not what the query picks' : undefined
}

/** One JSON answer, or one per line. */
function readJson(out: string): readonly unknown[] | undefined {
  const read = (text: string): readonly unknown[] | undefined => {
    try {
      return [JSON.parse(text)]
    } catch {
      return undefined
    }
  }
  const whole = read(out)
  if (whole !== undefined) return whole
  const each = out.trimEnd().split('\n').map(read)
  return each.some((one) => one === undefined) ? undefined : each.flatMap((one) => one ?? [])
}

function writeFiles(folder: string): void {
  const template = {
    $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { unused: { type: 'string', defaultValue: '' } },
    resources: [
      {
        type: 'Vendor.ManagedIdentity/userAssignedIdentities',
        apiVersion: '2023-01-31',
        name: 'one',
        location: 'local',
      },
    ],
  }
  const oauth2 = { grantTypes: { authorizationCode: { clientId: 'a', clientSecret: 'b' } } }
  const files: Readonly<Record<string, string>> = {
    'main.json': JSON.stringify(template),
    'provider.json': JSON.stringify({
      properties: { displayName: 'Own', identityProvider: 'aad', oauth2 },
    }),
    'authorization.json': '{"properties":{"authorizationType":"OAuth2"}}',
    password: 'correct-horse-battery-staple',
    'incident.yaml':
      'steps:\n  - { after: 0s, step: publish, eventType: ServiceIssue, title: Drill }\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  for (const { name } of passes) {
    const row = `2026-10-01,12.50,Support ${name}`
    writeFileSync(
      join(folder, `rows-${name}.csv`),
      `date,transactionAmount,productDescription\n${row}\n`,
    )
  }
}
