import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { requireOrSkip } from '../../../../tests/require.ts'
import { findKubernetes, readKubeconfig } from './find-kubernetes.ts'
import { KubernetesEngine } from './kubernetes-engine.ts'
import { openFakeCluster } from './testing/fake-cluster.ts'

async function folderOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-kubernetes-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

function kubeconfig(cluster: object, user: object): string {
  return JSON.stringify({
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'lost', user: 'lost' } },
      { name: 'here', context: { cluster: 'c', user: 'u', namespace: 'groups' } },
    ],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  })
}

test('a cluster is found by a kubeconfig in JSON', async (t) => {
  const { double } = await openFakeCluster(t)
  const { server, token } = double.target
  const folder = await folderOf(t, { config: kubeconfig({ server }, { token }) })
  const found = await findKubernetes({ kubeconfig: join(folder, 'config') })
  assert.deepEqual(found, { target: { server, namespace: 'groups', token }, passedOver: [] })
})

test('a cluster is found from inside; its token is read anew for every call', async (t) => {
  const { double } = await openFakeCluster(t)
  const { server, token = '' } = double.target
  const folder = await folderOf(t, { token: `${token}\n`, 'ca.crt': '', namespace: 'groups' })
  const places = { inClusterFolder: folder, inClusterServer: server }
  const { target } = await findKubernetes(places)
  assert.ok(target)
  await using engine = new KubernetesEngine({ target, installation: 'one' })
  assert.equal((await engine.observe('g')).empty, true)
  await writeFile(join(folder, 'token'), 'outdated')
  await assert.rejects(engine.observe('g'), { kind: 'refused' })
  await writeFile(join(folder, 'token'), token)
  await engine.observe('g')
})

test('who does not answer, or cannot be read, is passed over with the reason', async (t) => {
  const config = kubeconfig({ server: 'http://127.0.0.1:1' }, { token: 'x' })
  const folder = await folderOf(t, { config })
  const silent = await findKubernetes({ kubeconfig: join(folder, 'config') })
  assert.equal(silent.target, undefined)
  assert.match(silent.passedOver[0]?.reason ?? '', /ECONNREFUSED/)
  const missing = await findKubernetes({ inClusterFolder: join(folder, 'nothing') })
  assert.match(missing.passedOver[0]?.reason ?? '', /cannot be read/)
  assert.deepEqual(await findKubernetes({}), { target: undefined, passedOver: [] })
})

test('a kubeconfig that is not spoken here is refused, and says why', async (t) => {
  const server = 'https://cluster.test'
  const texts = {
    yaml: 'apiVersion: v1\nclusters: []\n',
    helper: kubeconfig({ server }, { exec: { command: 'sign-in' } }),
    password: kubeconfig({ server }, { username: 'me', password: 'hush' }),
    trusting: kubeconfig({ server, 'insecure-skip-tls-verify': true }, { token: 'x' }),
    broken: kubeconfig({ server }, { 'client-certificate': 'nothing.pem' }),
    lost: kubeconfig({ server }, {}).replace('"name":"u"', '"name":"v"'),
  }
  const folder = await folderOf(t, texts)
  const reasons: Readonly<Record<keyof typeof texts, RegExp>> = {
    yaml: /not JSON/,
    helper: /helper program/,
    password: /by password/,
    trusting: /trusts any server/,
    broken: /cannot be read/,
    lost: /no 'u' among its users/,
  }
  for (const [name, message] of Object.entries(reasons)) {
    await assert.rejects(readKubeconfig(join(folder, name)), { kind: 'refused', message })
  }
})

test('the server proves itself by its authority, the client by its certificate', async (t) => {
  const run = promisify(execFile)
  const folder = await folderOf(t, {})
  const openssl = await run('openssl', ['version']).then(
    () => true,
    () => false,
  )
  if (!requireOrSkip(t, openssl, 'needs openssl: apt-get install openssl')) return
  const make = (args: string) => run('openssl', args.split(' '), { cwd: folder })
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
  const altName = '-addext subjectAltName=IP:127.0.0.1'
  for (const name of ['server', 'client']) {
    const files = `-keyout ${name}.key -out ${name}.crt`
    await make(`req -x509 ${key} -days 2 -subj /CN=${name} ${altName} ${files}`)
  }
  const text = (name: string) => readFile(join(folder, name), 'utf8')
  const own = { key: await text('server.key'), cert: await text('server.crt') }
  const ca = await text('client.crt')
  const server = https.createServer({ ...own, ca, requestCert: true }, (_request, response) => {
    response.end('{"gitVersion":"v1"}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // A server that listens on a port has an address of this kind.
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const me = {
    'client-certificate': 'client.crt',
    'client-key-data': Buffer.from(await text('client.key')).toString('base64'),
  }
  const trusted = { server: address, 'certificate-authority': 'server.crt' }
  const configs = {
    good: kubeconfig(trusted, me),
    nobody: kubeconfig(trusted, {}),
    untrusted: kubeconfig({ server: address }, me),
    otherwise: kubeconfig({ server: address, 'certificate-authority': 'client.crt' }, me),
  }
  for (const [name, config] of Object.entries(configs)) await writeFile(join(folder, name), config)
  const find = (name: string) => findKubernetes({ kubeconfig: join(folder, name) })
  assert.deepEqual((await find('good')).passedOver, [])
  assert.notEqual((await find('nobody')).passedOver.length, 0)
  for (const name of ['untrusted', 'otherwise']) {
    assert.match((await find(name)).passedOver[0]?.reason ?? '', /self-signed|certificate/)
  }
})
