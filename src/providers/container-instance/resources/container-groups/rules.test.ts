/** What is refused, with which code and path, and that everything is reported at once. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import { defaultContainerLimits } from '../../domain/limits.ts'
import { base, body, ids, startContainers, web } from '../../testing/start.ts'
import type { ContainerGroup } from './model.ts'
import { bodyProblems, updateProblems } from './rules.ts'
import { toModel } from './versions/to-model.ts'

const place = `${base}/containerGroups/one`.toLowerCase()

function model(given: object): ContainerGroup {
  // `body` creates the bodies of this file.
  const { properties } = given as { properties: object }
  const preparation = { place, location: 'here', tenantId: 't', userAssigned: {} }
  const { identity } = given as { identity?: { type?: string } }
  return toModel(
    { properties, preparation, ...(identity === undefined ? {} : { identity }) },
    undefined,
    { seal: testSeal, ids },
  )
}

const codes = (given: object): readonly string[] =>
  bodyProblems(model(given), {
    limits: defaultContainerLimits,
    seal: testSeal,
    allowedRegistries: [],
  }).map(({ code, path }) => `${code} ${path}`)

const part = (properties: object) => web('', 'web', properties)
const first = 'properties.containers[0].properties'

/** None is only a path: each would inject something into an engine that reads it as text, or leave its folder. */
const hostileMountPaths = [
  '/mnt,source=evil,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/',
  '/mnt,source=/',
  '/mnt","source=/',
  '/a:b',
  '/a;b',
  '/a\\b',
  "/a'b",
  '/a`b',
  '/a\nb',
  '/a\0b',
  '/a\u0085b',
  '/a\u202eb',
  '/a\ud800b',
  '/a/../b',
  '/a/./b',
  '/a//b',
  '//',
  '/',
  '',
  'a',
  `/${'a'.repeat(300)}`,
  '/a'.repeat(600),
]

const table: readonly (readonly [expected: string, given: object])[] = [
  ['InvalidOsType properties.osType', body([web()], { osType: 'Plan9' })],
  ['InvalidSku properties.sku', body([web()], { sku: 'Large' })],
  ['PriorityNotSpecified properties.priority', body([web()], { priority: 'High' })],
  ['InvalidRestartPolicy properties.restartPolicy', body([web()], { restartPolicy: 'Often' })],
  ['ContainersNotSpecified properties.containers', body([])],
  [
    'TooManyContainers properties.containers',
    body(Array.from({ length: 61 }, (_, at) => web('', `c${at}`))),
  ],
  ['InvalidContainerName properties.containers[0].name', body([web('', 'Web_1')])],
  ['InvalidContainerName properties.containers[0].name', body([web('', '-web')])],
  ['DuplicateContainerName properties.containers[1].name', body([web(), web()])],
  [`ImageNotSpecified ${first}.image`, body([{ name: 'web' }])],
  [`InvalidPort ${first}.ports[0].port`, body([part({ ports: [{ port: 70000 }] })])],
  [`InvalidPort ${first}.ports[0].port`, body([part({ ports: [{ port: 0 }] })])],
  [
    `InvalidProtocol ${first}.ports[0].protocol`,
    body([part({ ports: [{ port: 1, protocol: 'X' }] })]),
  ],
  [`DuplicatePort ${first}.ports[1].port`, body([part({ ports: [{ port: 80 }, { port: 80 }] })])],
  [
    `InvalidEnvironmentVariableName ${first}.environmentVariables[0].name`,
    body([part({ environmentVariables: [{ name: '1A', value: '' }] })]),
  ],
  [
    `DuplicateEnvironmentVariable ${first}.environmentVariables[1].name`,
    body([part({ environmentVariables: [{ name: 'A' }, { name: 'A' }] })]),
  ],
  [
    `EnvironmentVariableHasSeveralValues ${first}.environmentVariables[0]`,
    body([part({ environmentVariables: [{ name: 'A', value: 'x', secureValue: 'y' }] })]),
  ],
  [
    `SecretReferenceNotFound ${first}.environmentVariables[0].secureValueReference`,
    body([part({ environmentVariables: [{ name: 'A', secureValueReference: 'none' }] })]),
  ],
  [
    `InvalidResources ${first}.resources.requests.cpu`,
    body([part({ resources: { requests: { cpu: 0 } } })]),
  ],
  [
    `InvalidResources ${first}.resources.limits.cpu`,
    body([part({ resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } })]),
  ],
  [
    `InvalidResources ${first}.resources.limits.memoryInGB`,
    body([part({ resources: { requests: { memoryInGB: 1 }, limits: { memoryInGB: 2 } } })]),
  ],
  [
    `InvalidResources ${first}.resources.limits.gpu.count`,
    body([part({ resources: { limits: { gpu: { count: 1e18, sku: 'K80' } } } })]),
  ],
  [`InvalidProbe ${first}.livenessProbe`, body([part({ livenessProbe: {} })])],
  [
    `InvalidProbe ${first}.readinessProbe.httpGet.port`,
    body([part({ readinessProbe: { httpGet: { port: 0 } } })]),
  ],
  [
    `InvalidProbe ${first}.livenessProbe.periodSeconds`,
    body([part({ livenessProbe: { exec: { command: ['a'] }, periodSeconds: 0 } })]),
  ],
  [
    `InvalidSecurityContext ${first}.securityContext.runAsUser`,
    body([part({ securityContext: { runAsUser: -1 } })]),
  ],
  [
    `VolumeMountWithoutVolume ${first}.volumeMounts[0].name`,
    body([part({ volumeMounts: [{ name: 'none', mountPath: '/a' }] })]),
  ],
  ...hostileMountPaths.map((mountPath): readonly [string, object] => [
    `InvalidMountPath ${first}.volumeMounts[0].mountPath`,
    body([part({ volumeMounts: [{ name: 'v', mountPath }] })], {
      volumes: [{ name: 'v', emptyDir: {} }],
    }),
  ]),
  [
    `InvalidMountPath ${first}.volumeMounts[1].mountPath`,
    body(
      [
        part({
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'v', mountPath: '/a/' },
          ],
        }),
      ],
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
  ],
  [
    `InvalidMountPath ${first}.volumeMounts[0].mountPath`,
    body(
      [
        part({
          volumeMounts: [{ name: 'v', mountPath: '/mnt/configmap/web' }],
          configMap: { keyValuePairs: { a: 'b' } },
        }),
      ],
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
  ],
  [
    'InvalidVolumeName properties.volumes[0].name',
    body([web()], { volumes: [{ name: 'A_b', emptyDir: {} }] }),
  ],
  ['InvalidVolume properties.volumes[0]', body([web()], { volumes: [{ name: 'v' }] })],
  [
    'InvalidVolume properties.volumes[0]',
    body([web()], { volumes: [{ name: 'v', emptyDir: {}, secret: {} }] }),
  ],
  [
    'InvalidVolume properties.volumes[0].secret.key',
    body([web()], { volumes: [{ name: 'v', secret: { key: 'not base64!' } }] }),
  ],
  [
    'InvalidVolume properties.volumes[0].azureFile.shareName',
    body([web()], {
      volumes: [{ name: 'v', azureFile: { shareName: '../up', storageAccountName: 'a' } }],
    }),
  ],
  [
    'InvalidVolume properties.volumes[0].gitRepo.directory',
    body([web()], {
      volumes: [{ name: 'v', gitRepo: { repository: 'https://g.example/r', directory: '../..' } }],
    }),
  ],
  [
    'SecretReferenceNotFound properties.volumes[0].secretReference.key',
    body([web()], { volumes: [{ name: 'v', secretReference: { key: 'none' } }] }),
  ],
  [
    'InvalidSecretReference properties.secretReferences[0].secretReferenceUri',
    body([web()], { secretReferences: [{ name: 'n', secretReferenceUri: 'no uri' }] }),
  ],
  [
    'InvalidImageRegistryCredential properties.imageRegistryCredentials[0].server',
    body([web()], { imageRegistryCredentials: [{ server: 'https://r.example' }] }),
  ],
  [
    'SecretReferenceNotFound properties.imageRegistryCredentials[0].passwordReference',
    body([web()], {
      imageRegistryCredentials: [{ server: 'r.example', passwordReference: 'none' }],
    }),
  ],
  [
    'InvalidIpAddressType properties.ipAddress.type',
    body([web()], { ipAddress: { type: 'Secret', ports: [] } }),
  ],
  [
    'TooManyPorts properties.ipAddress.ports',
    body([web()], {
      ipAddress: { type: 'Public', ports: [1, 2, 3, 4, 5, 6].map((port) => ({ port })) },
    }),
  ],
  [
    'InvalidDnsNameLabel properties.ipAddress.dnsNameLabel',
    body([web()], { ipAddress: { type: 'Public', ports: [], dnsNameLabel: '1abcd' } }),
  ],
  [
    'InvalidDomainNameLabelScope properties.ipAddress.autoGeneratedDomainNameLabelScope',
    body([web()], {
      ipAddress: { type: 'Public', ports: [], autoGeneratedDomainNameLabelScope: 'All' },
    }),
  ],
  [
    'InvalidDnsConfig properties.dnsConfig.nameServers[0]',
    body([web()], { dnsConfig: { nameServers: ['name'] } }),
  ],
  ['InvalidIdentity identity.type', { ...body(), identity: { type: 'Mine' } }],
  [
    'InvalidIdentityAcls properties.identityAcls.defaultAccess',
    body([web()], { identityAcls: { defaultAccess: 'Nobody' } }),
  ],
  [
    'SpotPriorityContainerGroupNotSupportedForInboundConnectivity properties.priority',
    body([web()], { priority: 'Spot', ipAddress: { type: 'Public', ports: [] } }),
  ],
  [
    'SpotPriorityContainerGroupNotSupportedInSku properties.sku',
    body([web()], { priority: 'Spot', sku: 'Dedicated' }),
  ],
  [
    'SpotPriorityContainerGroupWithGPUResourcesNotSupported properties.priority',
    body([part({ resources: { requests: { gpu: { count: 1, sku: 'K80' } } } })], {
      priority: 'Spot',
    }),
  ],
]

describe('a body with one fault', () => {
  for (const [expected, given] of table) {
    test(expected, () => assert.deepEqual(codes(given), [expected]))
  }

  test('a body without faults', () => assert.deepEqual(codes(body()), []))
})

test('all faults of a body come in one answer, each with its path and code', async () => {
  await using started = await startContainers({ reconcile: false })
  const faulty = body([web('', 'BAD', { ports: [{ port: 0 }] }), { name: 'second' }], {
    osType: 'None',
    volumes: [{ name: 'v' }],
  })
  await assert.rejects(started.call('PUT', `${base}/containerGroups/one`, faulty), (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual(
      error.extra.details?.map(({ code }) => code),
      [
        'InvalidOsType',
        'InvalidContainerName',
        'InvalidPort',
        'ImageNotSpecified',
        'InvalidVolume',
      ],
    )
    return error.status === 400
  })
})

test('the quota of a subscription', async () => {
  await using started = await startContainers({
    reconcile: false,
    limits: { groupsPerSubscriptionMax: 1 },
  })
  await started.call('PUT', `${base}/containerGroups/one`, body())
  await assert.rejects(started.call('PUT', `${base}/containerGroups/two`, body()), {
    status: 400,
    code: 'ContainerGroupQuotaReached',
  })
})

describe('updates (facts 4.5)', () => {
  const sized = (cpu: number) => body([part({ resources: { requests: { cpu, memoryInGB: 1 } } })])
  for (const [path, before, after] of [
    ['properties.osType', body(), body([web()], { osType: 'Windows' })],
    ['properties.restartPolicy', body(), body([web()], { restartPolicy: 'Never' })],
    ['properties.subnetIds', body(), body([web()], { subnetIds: [{ id: '/s' }] })],
    [`${first}.resources.requests.cpu`, sized(1), sized(2)],
  ] as const) {
    test(`${path} may not change`, () => {
      const problems = updateProblems('one', model(after), model(before))
      assert.deepEqual(
        problems.map((one) => [one.code, one.path]),
        [['InvalidContainerGroupUpdate', path]],
      )
    })
  }

  for (const [what, after] of [
    ['image', body([part({ image: 'other:1' })])],
    ['command', body([part({ command: ['x'] })])],
    ['environment', body([part({ environmentVariables: [{ name: 'A', value: 'b' }] })])],
    ['ports', body([part({ ports: [{ port: 1 }] })])],
    ['volumes', body([web()], { volumes: [{ name: 'v', emptyDir: {} }] })],
    ['another container', body([web(), web('', 'more')])],
  ] as const) {
    test(`${what} may change`, () => {
      assert.deepEqual(updateProblems('one', model(after), model(body())), [])
    })
  }

  test('a group that runs refuses, one that was stopped is made anew', async () => {
    await using started = await startContainers()
    const path = `${base}/containerGroups/one`
    await started.call('PUT', path, sized(1))
    await started.until('one', (one) => one.properties.provisioningState === 'Succeeded')
    await assert.rejects(started.call('PUT', path, sized(2)), {
      status: 400,
      code: 'InvalidContainerGroupUpdate',
    })
    await started.call('POST', `${path}/stop`)
    await started.until('one', (one) => one.properties.instanceView.state === 'Stopped')
    await started.settle()
    assert.equal((await started.call('PUT', path, sized(2))).status, 200)
  })
})
