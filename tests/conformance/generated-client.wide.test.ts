/**
 * Runs a published generator of typed clients on our OpenAPI documents. It must accept the newest document of each
 * namespace (in the long suite all of them), its output must compile, and a program typed by it must work against a
 * started installation.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startInstallation } from '../e2e/installation.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { collectWitnesses, versionOf } from './published.ts'

const modules = join(import.meta.dirname, 'node_modules')
const generator = join(modules, 'openapi-typescript/bin/cli.js')
const howToGet = 'the client generator is not installed: run `npm --prefix tests/conformance ci`'
const documents = join(import.meta.dirname, '../../openapi')
const run = promisify(execFile)

/** A version has the types that were released in it. The newest of this namespace has no role assignments. */
const versionsOfProgram: Readonly<Record<string, string>> = {
  'Vendor.Authorization': '2022-04-01.json',
}

/** A user's program. It is checked against the generated types, and run unchanged. */
const program = `
import createClient from 'openapi-fetch'
import type { paths as Identity } from './client/Vendor.ManagedIdentity.ts'
import type { paths as Containers } from './client/Vendor.ContainerInstance.ts'
import type { paths as Health } from './client/Vendor.ResourceHealth.ts'
import type { paths as Resources } from './client/Vendor.Resources.ts'
import type { paths as Roles } from './client/Vendor.Authorization.ts'

const { url = '', token = '', subscriptionId = '', principalId = '' } = process.env
const options = { baseUrl: url, headers: { authorization: \`Bearer \${token}\` } }
const resourceGroupName = 'generated'
const inGroup = { subscriptionId, resourceGroupName }

/** The answer of a request, or its error thrown. */
async function must<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked
  if (data === undefined) throw new Error(\`\${response.url} \${response.status} \${JSON.stringify(error)}\`)
  return data
}
function equal(found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(\`\${String(found)} is not \${String(expected)}\`)
}

const resources = createClient<Resources>(options)
const newest = { 'api-version': '2025-04-01' } as const
const groupPath = '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}' as const
const group = await must(resources.PUT(groupPath, { params: { path: inGroup, query: newest }, body: { location: 'local', tags: { made: 'so' } } }))
equal(group.location, 'local')
const filtered = await must(resources.GET('/subscriptions/{subscriptionId}/resourceGroups', {
  params: { path: { subscriptionId }, query: { ...newest, $filter: "tagName eq 'made' and tagValue eq 'so'", $top: 1 } },
}))
equal(filtered.value[0]?.name, resourceGroupName)
const providers = await must(resources.GET('/providers', { params: { query: newest } }))
equal(providers.value.some(({ namespace }) => namespace === 'Vendor.Billing'), true)

const roles = createClient<Roles>(options)
const roleVersion = { 'api-version': '2022-04-01' } as const
// The client encodes slashes in a variable, so the scope is given as one segment.
const scope = group.id.slice(1)
const found = await must(roles.GET('/{scope}/providers/Vendor.Authorization/roleDefinitions', {
  params: { path: { scope }, query: { ...roleVersion, $filter: "roleName eq 'Reader'" } },
}))
const roleDefinitionId = found.value[0]?.id ?? ''
const assignment = await must(roles.PUT('/{scope}/providers/Vendor.Authorization/roleAssignments/{roleAssignmentName}', {
  params: { path: { scope, roleAssignmentName: crypto.randomUUID() }, query: roleVersion },
  body: { properties: { roleDefinitionId, principalId } },
}))
equal(assignment.properties.scope, group.id)
const assigned = await must(roles.GET('/{scope}/providers/Vendor.Authorization/roleAssignments', {
  params: { path: { scope }, query: { ...roleVersion, $filter: 'atScope()' } },
}))
equal(assigned.value.some(({ id }) => id === assignment.id), true)

const containers = createClient<Containers>(options)
const containerPath = '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}' as const
const containerParams = { path: { ...inGroup, containerGroupName: 'web' }, query: { 'api-version': '2025-09-01' } } as const
await must(containers.PUT(containerPath, { params: containerParams, body: {
  location: 'local',
  properties: { osType: 'Linux', containers: [{ name: 'one', properties: { image: 'nginx', resources: { requests: { cpu: 1, memoryInGB: 1 } } } }] },
} }))
let state: string | undefined
for (let tries = 0; tries < 60 && state !== 'Succeeded'; tries++) {
  if (tries > 0) await new Promise((resolve) => setTimeout(resolve, 1000))
  state = (await must(containers.GET(containerPath, { params: containerParams }))).properties.provisioningState
}
equal(state, 'Succeeded')

const identities = createClient<Identity>(options)
const identity = await must(identities.PUT('/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ManagedIdentity/userAssignedIdentities/{userAssignedIdentityName}', {
  params: { path: { ...inGroup, userAssignedIdentityName: 'robot' }, query: { 'api-version': '2023-01-31' } },
  body: { location: 'local' },
}))
equal(typeof identity.properties.principalId, 'string')

const health = createClient<Health>(options)
const events = await must(health.GET('/{scope}/providers/Vendor.ResourceHealth/events', {
  params: { path: { scope: \`subscriptions/\${subscriptionId}\` }, query: { 'api-version': '2025-05-01', queryStartTime: '2020-01-01' } },
}))
equal(events.value.length, 0)

const missing = await resources.GET(groupPath, { params: { path: { subscriptionId, resourceGroupName: 'nowhere' }, query: newest } })
equal(missing.error?.error?.code, 'ResourceGroupNotFound')
console.log('done')
`

test('typed clients are generated from the documents, compile and work', async (t) => {
  const isThere = existsSync(generator) && existsSync(join(modules, 'openapi-fetch'))
  if (!requireOrSkip(t, isThere, howToGet)) return
  const folder = await mkdtemp(join(tmpdir(), 'armature-generated-client-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await symlink(modules, join(folder, 'node_modules'))
  const options = { cwd: folder, maxBuffer: 1 << 24 }
  const imported = [...program.matchAll(/client\/(\S+)\.ts/g)].map(([, name]) => name)
  for (const namespace of isLong ? readdirSync(documents) : imported) {
    assert.ok(namespace !== undefined)
    const newest = readdirSync(join(documents, namespace)).sort().at(-1) ?? ''
    const document = join(documents, namespace, versionsOfProgram[namespace] ?? newest)
    await run(process.execPath, [generator, document, '-o', `client/${namespace}.ts`], options)
  }
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['client/*.ts', '*.ts'] }),
  )
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(
    join(folder, 'node.d.ts'),
    'declare const process: { env: Record<string, string> }',
  )
  await writeFile(join(folder, 'program.ts'), program)
  // Ours, which compiles in a tenth of the time.
  const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '-p', '.'], options).catch(
    // The compiler writes its findings to its output. The error alone would hide them.
    (error: { stdout?: string }) => assert.fail(error.stdout ?? String(error)),
  )
  await using installation = await startInstallation({
    environment: { ARMATURE_CONTAINERS: 'simulated' },
  })
  const { url, ownerToken: token, subscriptionId, principalId } = installation
  const { stdout } = await run(process.execPath, ['program.ts'], {
    ...options,
    env: { ...process.env, url, token, subscriptionId, principalId },
  })
  assert.match(stdout, /done/)
  const seen = collectWitnesses(import.meta.filename)
  const client = 'openapi-typescript'
  for (const operation of [
    'role assignment',
    'container group',
    'health events of a subscription',
    'groups and resources',
    'identities',
  ]) {
    seen.add({ operation, client, version: versionOf(client), test: t.name })
  }
  seen.compare()
})
