/** Texts that an engine could misread are refused, each with the path of its property. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeal } from '#plane/testing/provider-context.ts'
import { defaultContainerLimits } from '../../domain/limits.ts'
import { base, body, ids, web } from '../../testing/start.ts'
import { bodyProblems } from './rules.ts'
import { toModel } from './versions/to-model.ts'

const place = `${base}/containerGroups/one`.toLowerCase()
const inContainer = 'properties.containers[0].properties'
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] })
const inWeb = (properties: object): object => body([web('', 'web', properties)])

/** Refused in every value and word. */
const values = ['a\0b', '\ud800', 'a'.repeat(140_000)]
const fileNames = ['', '.', '..', '..data', '../x', 'a/b', 'a\\b', 'a\0', 'a\nb', 'é'.repeat(60)]

/** For each property: texts that are refused, and a body with them. */
const properties: readonly (readonly [
  path: string,
  texts: readonly string[],
  body: (text: string) => object,
])[] = [
  [
    `${inContainer}.image`,
    [
      'dir:/etc',
      'oci:/etc:x',
      'docker-archive:/etc/passwd',
      'docker://host/x',
      'a'.repeat(64).replaceAll('a', 'f'),
      `sha256:${'f'.repeat(64)}`,
      'sha256:abc',
      'Web:1',
      'a b',
      'a\nb',
      'a\0b',
      '-x',
      '--privileged',
      'a/../b',
      '../b',
      '/b',
      'a,b',
      'a"b',
      'a:b:c',
      'host:port/a',
      'a@sha256:short',
      `a:${'b'.repeat(200)}`,
      'é/a',
    ],
    (image) => inWeb({ image }),
  ],
  [`${inContainer}.command[0]`, ['', ...values], (word) => inWeb({ command: [word] })],
  [`${inContainer}.command[1]`, values, (word) => inWeb({ command: ['sh', word] })],
  [
    `${inContainer}.environmentVariables[0].value`,
    values,
    (value) => inWeb({ environmentVariables: [{ name: 'A', value }] }),
  ],
  [
    `${inContainer}.environmentVariables[0].secureValue`,
    values.filter((one) => one.isWellFormed()),
    (secureValue) => inWeb({ environmentVariables: [{ name: 'A', secureValue }] }),
  ],
  [
    `${inContainer}.environmentVariables[0].name`,
    ['', 'A=B', 'A B', 'A*', '*', 'A\n', 'A\0', '1A', 'A-B', 'a'.repeat(64), 'É'],
    (name) => inWeb({ environmentVariables: [{ name, value: '' }] }),
  ],
  [
    `${inContainer}.securityContext.capabilities.add[0]`,
    ['', 'NET_RAW,SYS_ADMIN', 'NET RAW', '-NET_RAW', 'A\n', '=ep'],
    (name) => inWeb({ securityContext: { capabilities: { add: [name] } } }),
  ],
  [
    `${inContainer}.securityContext.seccompProfile`,
    ['%%', 'unconfined', btoa('unconfined'), btoa('/etc/passwd'), btoa('[]'), btoa('""')],
    (seccompProfile) => inWeb({ securityContext: { seccompProfile } }),
  ],
  [
    `${inContainer}.livenessProbe.exec.command[0]`,
    ['', ...values],
    (word) => inWeb({ livenessProbe: { exec: { command: [word] } } }),
  ],
  [
    `${inContainer}.livenessProbe.httpGet.path`,
    ['/a b', '/a\r\nHost: x', '/a\0', '/é', `/${'a'.repeat(3000)}`],
    (path) => inWeb({ livenessProbe: { httpGet: { port: 80, path } } }),
  ],
  [
    `${inContainer}.livenessProbe.httpGet.httpHeaders[0].name`,
    ['', 'A B', 'A:', 'A\r\nB', 'é'],
    (name) =>
      inWeb({ livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name, value: '' }] } } }),
  ],
  [
    `${inContainer}.livenessProbe.httpGet.httpHeaders[0].value`,
    ['a\r\nB: c', 'a\0', 'a\nb', '\u2028'],
    (value) =>
      inWeb({ livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: 'A', value }] } } }),
  ],
  [
    'properties.dnsConfig.nameServers[0]',
    ['', 'name', '1.2.3', '999.1.1.1', '1.1.1.1\n', '1.1.1.1,2.2.2.2', 'fe80::1%eth0', ':::'],
    (server) => body([web()], { dnsConfig: { nameServers: [server] } }),
  ],
  [
    'properties.dnsConfig.searchDomains',
    ['-x', 'a;b', 'a"b', 'a\0b', '.', 'a'.repeat(300), Array(40).fill('a').join(' ')],
    (searchDomains) => body([web()], { dnsConfig: { nameServers: ['1.1.1.1'], searchDomains } }),
  ],
  [
    'properties.dnsConfig.options',
    ['-x', 'A', 'ndots:', 'ndots:a', 'a=b', 'a\0b', '#'],
    (options) => body([web()], { dnsConfig: { nameServers: ['1.1.1.1'], options } }),
  ],
  [
    'properties.volumes[0].gitRepo.repository',
    [
      'ext::sh -c x',
      'file:///etc',
      'ssh://host/x',
      '--upload-pack=x',
      'https://-host/x',
      'https://host/x\n--y',
      'https:host/x',
      'https://ho st/x',
    ],
    (repository) => body([web()], volume({ gitRepo: { repository } })),
  ],
  [
    'properties.volumes[0].gitRepo.revision',
    ['-x', '--output=x', 'a..b', 'a:b', 'a b', '@{u}', '+x:refs/y', 'a\0', ''],
    (revision) => body([web()], volume({ gitRepo: { repository: 'https://h/x', revision } })),
  ],
  [
    'properties.volumes[0].gitRepo.directory',
    ['/etc', '../x', 'a/../b', 'a\nb', 'a b', '-x', 'a\\b'],
    (directory) => body([web()], volume({ gitRepo: { repository: 'https://h/x', directory } })),
  ],
  [
    'properties.volumes[0].azureFile.shareName',
    ['..', 'a/b', 'a,b', '', '-a', 'a\n', 'a'.repeat(64)],
    (shareName) => body([web()], volume({ azureFile: { shareName, storageAccountName: 'a' } })),
  ],
  [
    'properties.volumes[0].azureFile.storageAccountName',
    ['..', 'a/b', 'a,b', '', '-a', 'a\n'],
    (storageAccountName) =>
      body([web()], volume({ azureFile: { shareName: 'a', storageAccountName } })),
  ],
  [
    'properties.imageRegistryCredentials[0].server',
    ['', 'https://host', 'host/path', 'a b', '-host', 'host:port', 'host\n', 'a"b'],
    (server) => body([web()], { imageRegistryCredentials: [{ server }] }),
  ],
]

for (const [path, texts, bodyWith] of properties) {
  test(path, () => {
    for (const text of texts) {
      const found = problemPaths(bodyWith(text))
      assert.ok(found.includes(path), `${JSON.stringify(text.slice(0, 80))}: ${found.join()}`)
    }
  })
}

test('names of files: of secrets, of references, of key-value pairs', () => {
  const at = 'properties.volumes[0]'
  for (const name of fileNames) {
    const shown = JSON.stringify(name)
    const ofSecret = problemPaths(body([web()], volume({ secret: { [name]: 'YQ==' } })))
    assert.ok(ofSecret.includes(`${at}.secret.${name}`), shown)
    const ofReference = problemPaths(body([web()], volume({ secretReference: { [name]: 'r' } })))
    assert.ok(ofReference.includes(`${at}.secretReference.${name}`), shown)
    const ofMap = problemPaths(inWeb({ configMap: { keyValuePairs: { [name]: 'x' } } }))
    assert.ok(ofMap.includes(`${inContainer}.configMap.keyValuePairs.${name}`), shown)
  }
})

test('odd texts that are only themselves are let pass', () => {
  const odd = '$(A) `b` "c" \'d\' --e=f,g;h|i {j} *\n\té 日本 %s'
  const all = web('', 'web', {
    image: '[::1]:5000/a-b/c__d.e:V_1.0-x',
    command: [odd, '-x', ''],
    environmentVariables: [{ name: '_a1', value: odd }],
    volumeMounts: [{ name: 'v', mountPath: '/mnt/with blanks/é=x@{1}' }],
    configMap: { keyValuePairs: { '-x y.z': odd } },
    livenessProbe: {
      httpGet: { port: 80, path: '/a?b=%20;c#d', httpHeaders: [{ name: 'A', value: 'b, "c"' }] },
    },
  })
  const more = {
    ...volume({
      gitRepo: { repository: 'https://h/x.git', revision: 'v1.0/a+b', directory: 'a/b' },
    }),
    dnsConfig: { nameServers: ['::1'], searchDomains: 'a.b. _c.d', options: 'ndots:2 rotate' },
  }
  assert.deepEqual(problemPaths(body([all], more)), [])
})

function problemPaths(given: object): readonly string[] {
  // `body` creates the bodies of this file.
  const { properties: inner } = given as { properties: object }
  const preparation = { place, location: 'here', tenantId: 't', userAssigned: {} }
  const model = toModel({ properties: inner, preparation }, undefined, { seal: testSeal, ids })
  return bodyProblems(model, {
    limits: defaultContainerLimits,
    seal: testSeal,
    allowedRegistries: [],
  }).map((one) => one.path ?? '')
}
