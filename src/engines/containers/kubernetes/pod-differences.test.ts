/**
 * An admission controller that gives a group more than it requested, or less: the group is removed, and the
 * difference reported.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../json.ts'
import { openFakeCluster, part, spec } from './testing/fake-cluster.ts'

type PodSpec = Record<string, unknown> & { containers: Record<string, unknown>[] }

const wanted = spec(
  [
    {
      ...part('web'),
      limits: { cpu: 1, memoryBytes: 2 ** 27 },
      mounts: [{ volume: 'data', path: '/data', readOnly: true }],
      security: {
        user: 7,
        addCapabilities: ['CHOWN'],
        dropCapabilities: ['KILL'],
        allowPrivilegeEscalation: false,
      },
    },
  ],
  { volumes: [{ kind: 'empty', name: 'data' }] },
)

/** `change` gets the spec of the Pod and its container. */
const changing =
  (change: (pod: PodSpec, web: Record<string, unknown>) => object) =>
  (given: Json): Json => {
    // The Pod spec of this file.
    const pod = structuredClone(given) as PodSpec
    return { ...pod, ...change(pod, pod.containers[0] ?? {}) }
  }
const inWeb = (over: object) =>
  changing((_, web) => ({
    containers: [{ ...web, ...over }],
  }))
const security = (over: object) =>
  changing((_, web) => ({
    containers: [{ ...web, securityContext: { ...Object(web['securityContext']), ...over } }],
  }))

const mount = { name: 'data', mountPath: '/data', readOnly: true }

const refused: readonly (readonly [name: string, admission: (spec: Json) => Json, told: RegExp])[] =
  [
    ['the network of the node', changing(() => ({ hostNetwork: true })), /hostNetwork/],
    ['the processes of the node', changing(() => ({ hostPID: true })), /hostPID/],
    ['the shared memory of the node', changing(() => ({ hostIPC: true })), /hostIPC/],
    [
      'a folder of the node',
      changing(() => ({ volumes: [{ name: 'data', hostPath: { path: '/' } }] })),
      /'data' is the folder '\/' of a node/,
    ],
    ['privileged', security({ privileged: true }), /privilege/],
    [
      'a capability',
      security({ capabilities: { add: ['CHOWN', 'SYS_ADMIN'], drop: ['KILL'] } }),
      /has the capability SYS_ADMIN/,
    ],
    [
      'a capability kept',
      security({ capabilities: { add: ['CHOWN'], drop: [] } }),
      /keeps the capability KILL/,
    ],
    ['another user', security({ runAsUser: 0 }), /runAsUser is not 7/],
    [
      'privileges to gain',
      security({ allowPrivilegeEscalation: true }),
      /allowPrivilegeEscalation is not false/,
    ],
    ['no mount', inWeb({ volumeMounts: [] }), /something else is mounted at \/data/],
    [
      'a writable mount',
      inWeb({ volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: false }] }),
      /something else is mounted at \/data/,
    ],
    [
      'a mount more',
      inWeb({ volumeMounts: [mount, { ...mount, mountPath: '/x' }] }),
      /mount at \/x/,
    ],
    [
      'a part of a volume',
      inWeb({ volumeMounts: [{ ...mount, subPath: '..' }] }),
      /mounted at \/data/,
    ],
    [
      'another volume',
      changing(() => ({ volumes: [{ name: 'data', secret: {} }] })),
      /something else/,
    ],
    ['no limits', inWeb({ resources: {} }), /limit of memory/],
    [
      'a larger limit',
      inWeb({ resources: { limits: { cpu: '1001m', memory: '128Mi' } } }),
      /of cpu/,
    ],
    ['another command', inWeb({ command: ['sh'] }), /command is not/],
    ['a device', inWeb({ volumeDevices: [{ name: 'data' }] }), /a device/],
    ['a token', changing(() => ({ automountServiceAccountToken: true })), /token of the cluster/],
    [
      'processes that are shared',
      changing(() => ({ shareProcessNamespace: true })),
      /shareProcess/,
    ],
    ['no profile', changing(() => ({ securityContext: {} })), /seccomp profile is not/],
    ['no profile of its own', security({ seccompProfile: { type: 'Unconfined' } }), /no seccomp/],
    ['an open procMount', security({ procMount: 'Unmasked' }), /procMount/],
    ['no container', changing(() => ({ containers: [] })), /'web': it is not there/],
  ]

for (const [name, admission, told] of refused) {
  test(name, async (t) => {
    const { engine, double } = await openFakeCluster(t)
    double.admission = admission
    await assert.rejects(engine.create('g', wanted), {
      name: 'EngineError',
      kind: 'refused',
      message: told,
    })
    assert.deepEqual(await engine.list(), [])
  })
}

test('what admission adds beside the group’s containers is let be', async (t) => {
  const { engine, double } = await openFakeCluster(t)
  double.admission = changing((pod, web) => ({
    containers: [
      {
        ...web,
        volumeMounts: [
          ...(web['volumeMounts'] as object[]),
          { name: 'injected', mountPath: '/var/run/injected' },
        ],
      },
      { name: 'sidecar', image: 'mesh' },
    ],
    volumes: [...(pod['volumes'] as object[]), { name: 'injected', emptyDir: {} }],
  }))
  await engine.create('g', wanted)
  assert.equal((await engine.list()).length, 1)
})
