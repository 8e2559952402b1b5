import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupSpec } from '../engine.ts'
import { at } from '../json.ts'
import { namesOf } from './names.ts'
import { openFakeCluster, part, spec } from './testing/fake-cluster.ts'

const { name } = namesOf('one', 'g')
const labels = { 'armature.installation': 'one', 'armature.group': 'g', 'armature.hash': 'h1' }
const base = '/api/v1/namespaces/groups'
const base64 = (text: string) => Buffer.from(text).toString('base64')

const everything: GroupSpec = {
  hash: 'h1',
  hostname: 'the-group',
  restart: 'on-failure',
  parts: [
    { ...part('prepare', {}, { init: true }), environment: [] },
    {
      name: 'web',
      init: false,
      image: 'example/web:1',
      command: ['serve', '--home=$(HOME)', '$$'],
      environment: [
        { name: 'PLAIN', value: 'costs $5' },
        { name: 'BOTH', value: 'plain' },
      ],
      mounts: [
        { volume: 'data', path: '/data', readOnly: false },
        { volume: 'keys', path: '/run/keys', readOnly: false },
        { volume: 'share', path: '/share', readOnly: true },
      ],
      limits: { cpu: 0.5, memoryBytes: 1_500_000_000, processes: 100 },
      gpu: 2,
      security: {
        privileged: true,
        allowPrivilegeEscalation: true,
        addCapabilities: ['NET_ADMIN'],
        dropCapabilities: ['ALL'],
        user: 77,
        group: 88,
      },
      liveness: {
        probe: { kind: 'exec', command: ['test', '$X'] },
        initialDelaySeconds: 1,
        periodSeconds: 2,
        timeoutSeconds: 3,
        failureThreshold: 4,
        successThreshold: 1,
      },
      readiness: {
        probe: {
          kind: 'http',
          scheme: 'https',
          port: 8080,
          path: '/ready',
          headers: [{ name: 'x-probe', value: 'yes' }],
        },
        initialDelaySeconds: 0,
        periodSeconds: 10,
        timeoutSeconds: 1,
        failureThreshold: 3,
        successThreshold: 2,
      },
    },
  ],
  volumes: [
    { kind: 'empty', name: 'data' },
    { kind: 'files', name: 'keys', fileMode: 0o400 },
    { kind: 'host', name: 'share', folder: '/srv/share' },
  ],
  ports: [
    { port: 80, protocol: 'tcp', publish: { address: '192.0.2.1' } },
    { port: 53, protocol: 'udp', publish: { address: '192.0.2.1', port: 5353 } },
    { port: 9000, protocol: 'tcp' },
  ],
  dns: { servers: ['192.0.2.53'], searchDomains: ['corp.test'], options: ['ndots:3', 'rotate'] },
}

const contents = {
  files: new Map([['keys', [{ name: 'pass word', bytes: Buffer.from('hush') }]]]),
  environment: new Map([
    [
      'web',
      new Map([
        ['BOTH', 'secret'],
        ['TOKEN', '$(hush)'],
      ]),
    ],
  ]),
}

test('the objects of a group, exactly', async (t) => {
  const { open, changes } = await openFakeCluster(t)
  await using engine = open({
    allowPrivileged: true,
    gpuResource: 'example.test/gpu',
    hostFolders: true,
    imagePullSecrets: ['registry'],
  })
  await engine.create('g', everything, contents)
  const [environment, files, service, pod, ...more] = changes()
  assert.deepEqual(more, [])
  const metadata = { name, labels, annotations: labels }
  assert.deepEqual(environment, {
    method: 'POST',
    path: `${base}/secrets`,
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata,
      data: { web_BOTH: base64('secret'), web_TOKEN: base64('$(hush)') },
    },
  })
  assert.deepEqual(files, {
    method: 'POST',
    path: `${base}/secrets`,
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: { ...metadata, name: `${name}.keys` },
      data: { 'file-0': base64('hush') },
    },
  })
  assert.deepEqual(service, {
    method: 'POST',
    path: `${base}/services`,
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        type: 'LoadBalancer',
        selector: labels,
        ports: [
          { name: 'tcp-80', protocol: 'TCP', port: 80, targetPort: 80 },
          { name: 'udp-53', protocol: 'UDP', port: 5353, targetPort: 53 },
        ],
      },
    },
  })
  const ofWeb = (key: string) => ({ secretKeyRef: { name, key } })
  assert.deepEqual(pod, {
    method: 'POST',
    path: `${base}/pods`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, annotations: { ...labels, 'armature.parts': 'prepare,web' } },
      spec: {
        restartPolicy: 'OnFailure',
        automountServiceAccountToken: false,
        securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        enableServiceLinks: false,
        hostname: 'the-group',
        dnsPolicy: 'None',
        dnsConfig: {
          nameservers: ['192.0.2.53'],
          searches: ['corp.test'],
          options: [{ name: 'ndots', value: '3' }, { name: 'rotate' }],
        },
        imagePullSecrets: [{ name: 'registry' }],
        initContainers: [{ name: 'prepare', image: 'example/web:1', env: [], volumeMounts: [] }],
        containers: [
          {
            name: 'web',
            image: 'example/web:1',
            command: ['serve', '--home=$$(HOME)', '$$$$'],
            env: [
              { name: 'PLAIN', value: 'costs $$5' },
              { name: 'BOTH', valueFrom: ofWeb('web_BOTH') },
              { name: 'TOKEN', valueFrom: ofWeb('web_TOKEN') },
            ],
            resources: { limits: { cpu: '500m', memory: '1500000000', 'example.test/gpu': '2' } },
            volumeMounts: [
              { name: 'data', mountPath: '/data', readOnly: false },
              { name: 'keys', mountPath: '/run/keys', readOnly: true },
              { name: 'share', mountPath: '/share', readOnly: true },
            ],
            livenessProbe: {
              exec: { command: ['test', '$$X'] },
              initialDelaySeconds: 1,
              periodSeconds: 2,
              timeoutSeconds: 3,
              failureThreshold: 4,
              successThreshold: 1,
            },
            readinessProbe: {
              httpGet: {
                scheme: 'HTTPS',
                port: 8080,
                path: '/ready',
                httpHeaders: [{ name: 'x-probe', value: 'yes' }],
              },
              initialDelaySeconds: 0,
              periodSeconds: 10,
              timeoutSeconds: 1,
              failureThreshold: 3,
              successThreshold: 2,
            },
            securityContext: {
              privileged: true,
              allowPrivilegeEscalation: true,
              capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
              runAsUser: 77,
              runAsGroup: 88,
            },
          },
        ],
        volumes: [
          { name: 'data', emptyDir: {} },
          {
            name: 'keys',
            secret: {
              secretName: `${name}.keys`,
              items: [{ key: 'file-0', path: 'pass word', mode: 0o400 }],
            },
          },
          { name: 'share', hostPath: { path: '/srv/share' } },
        ],
      },
    },
  })
})

test('a plain group is a Pod and nothing else; its end is asked for with its uid', async (t) => {
  const { engine, changes, pod } = await openFakeCluster(t)
  await engine.create('g', spec([part('web')]))
  const made = changes()
  assert.deepEqual(
    made.map(({ method, path }) => `${method} ${path}`),
    [`POST ${base}/pods`],
  )
  assert.equal(at(made[0]?.body, 'spec', 'dnsPolicy'), undefined)
  const { uid } = pod('g').metadata
  await engine.remove('g')
  assert.deepEqual(changes(), [
    {
      method: 'DELETE',
      path: `${base}/pods/${name}`,
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid },
        gracePeriodSeconds: 1,
      },
    },
  ])
})

test('secrets are in Secrets alone, and no look asks for their contents', async (t) => {
  const { engine, double, changes } = await openFakeCluster(t)
  const wanted = { ...everything, parts: [part('web')], volumes: everything.volumes.slice(0, 2) }
  await engine.create('g', wanted, contents)
  const secret = new RegExp(`hush|${base64('hush')}|${base64('$(hush)')}`)
  for (const { path, body } of changes()) {
    if (!path.endsWith('/secrets')) assert.doesNotMatch(JSON.stringify(body), secret)
  }
  assert.match(JSON.stringify(double.objects.list('secrets')), secret)
  assert.doesNotMatch(JSON.stringify([await engine.observe('g'), await engine.list()]), secret)
  const looked = double.calls.splice(0).filter(({ path }) => path.includes('/secrets'))
  assert.ok(looked.length > 0)
  assert.ok(looked.every(({ path, bare }) => path === `${base}/secrets` && bare))
})

test('a log is asked for with its bounds', async (t) => {
  const { engine, double, until } = await openFakeCluster(t)
  await engine.create('g', spec([part('web', { print: 'x', exitCode: 0 })]))
  await until('g', (observed) => observed.parts[0]?.state.kind === 'terminated')
  double.calls.splice(0)
  const options = { tail: 5, timestamps: true, sinceMs: 1_000, follow: true }
  for await (const _ of engine.logs('g', 'web', options));
  const call = double.calls.find(({ path }) => path.endsWith('/log'))
  assert.deepEqual(call?.query, {
    container: 'web',
    tailLines: '5',
    timestamps: 'true',
    sinceTime: '1970-01-01T00:00:01.000Z',
    follow: 'true',
  })
})

test('the names of two groups never meet, and are short enough for a Service', () => {
  const one = namesOf('a-b', 'c').name
  assert.notEqual(one, namesOf('a', 'b-c').name)
  assert.match(one, /^[a-z][-a-z0-9]{0,62}$/)
  assert.equal(one, namesOf('a-b', 'c').name)
})
