/**
 * Whatever body the rules accept, Podman reports exactly what it requests: mounts, ports, environment, command,
 * names, user, capabilities. After the deletion nothing stays, including volumes that the engine created. Podman's
 * report is read by its own command line, not by our engine.
 */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DockerEngine } from '#engines/containers/docker/docker-engine.ts'
import { ownFiles } from '#engines/containers/docker/host-side.ts'
import { type ContainerSpec, EngineError, type GroupSpec } from '#engines/containers/engine.ts'
import { startPodman, type ThrowawayPodman, testImage } from '#engines/containers/testing/podman.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import { fc } from '../../../../../tests/property.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { groupContents } from '../../domain/groups/contents.ts'
import { type GroupHostContext, specOf } from '../../domain/groups/spec.ts'
import { defaultContainerLimits } from '../../domain/limits.ts'
import { base, ids } from '../../testing/start.ts'
import type { ContainerGroup } from './model.ts'
import { bodyProblems } from './rules.ts'
import { toModel } from './versions/to-model.ts'

const isLong = process.env['ARMATURE_TEST_LONG'] === '1'
const runs = isLong ? 250 : 4
const volumeImage = 'localhost/armature-test/declares:1'
const place = `${base}/containerGroups/made`.toLowerCase()

/** Characters that separate, quote, expand or escape in some program. */
const fragments = [
  ',',
  ',ro=false',
  ',source=/',
  ',type=bind',
  ':',
  ':/etc',
  ';',
  '=',
  '"',
  "'",
  '`',
  '\\',
  '$(A)',
  '\u0024{A}',
  '%s',
  '*',
  '#',
  '--',
  '-v',
  '..',
  '/..',
  '/',
  '//',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\0',
  '\x1b',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ud800',
  'é',
  '日本',
  '🙂',
  '[',
  ']',
  '["sh"]',
  '{',
  '}',
  '&',
  '|',
  '<',
  '~',
  '!',
  '@',
  '?',
  '^',
  'a',
  'Z',
  '0',
]
const odd = fc
  .array(fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 4, unit: 'grapheme' })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''))
/** Mostly valid, so that a good part of the bodies is accepted. */
const mostly = (good: fc.Arbitrary<string>, weight = 12): fc.Arbitrary<string> =>
  fc.oneof({ arbitrary: good, weight }, { arbitrary: odd, weight: 1 })
const value = fc.oneof(fc.string({ maxLength: 20 }), odd)
const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,9}$/).map((text) => `X${text}`)
const segment = fc
  .oneof(fc.stringMatching(/^[a-z0-9 @=+%$(){}*#!~^&-]{1,12}$/), fc.constantFrom('é', '日本', '-v'))
  .map((text) => `m${text}`)
const mountPath = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .map((segments) => `/mnt/${segments.join('/')}`)
const file = fc.dictionary(
  mostly(fc.stringMatching(/^[a-z0-9 ,=:;"'-]{1,12}$/)),
  fc.constant('YQ=='),
  {
    minKeys: 1,
    maxKeys: 3,
  },
)
const volume = fc.oneof(
  fc.constant({ emptyDir: {} }),
  fc.record({ secret: file }),
  fc.constant({ azureFile: { shareName: 'share', storageAccountName: 'account' } }),
)
const maybe = <T extends object>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | object> =>
  fc.oneof(arbitrary, fc.constant({}))

const container = (at: number) =>
  fc
    .record({
      image: mostly(fc.constantFrom(testImage, volumeImage), 30),
      command: fc.array(value, { maxLength: 3 }),
      variables: fc.uniqueArray(fc.record({ name: mostly(name, 30), value }), {
        maxLength: 4,
        selector: (one) => one.name,
      }),
      mounts: fc.array(fc.record({ path: mostly(mountPath, 20), readOnly: fc.boolean() }), {
        maxLength: 3,
      }),
      map: maybe(fc.record({ configMap: fc.record({ keyValuePairs: file }) })),
      security: maybe(
        fc.record({
          securityContext: fc.record(
            {
              runAsUser: fc.integer({ min: 0, max: 70_000 }),
              runAsGroup: fc.integer({ min: 0, max: 70_000 }),
              allowPrivilegeEscalation: fc.boolean(),
              capabilities: fc.record({
                add: fc.subarray(['NET_BIND_SERVICE', 'cap_chown']),
                drop: fc.subarray(['ALL', 'KILL', 'mknod']),
              }),
            },
            { requiredKeys: ['runAsUser'] },
          ),
        }),
      ),
    })
    .map((one) => ({
      name: `part${at}`,
      properties: {
        image: one.image,
        ...(one.command.length === 0 ? {} : { command: one.command }),
        environmentVariables: one.variables.map((each, index) =>
          index % 2 === 0 ? each : { name: each.name, secureValue: each.value },
        ),
        volumeMounts: one.mounts.map(({ path, readOnly }, index) => ({
          name: `v${index}`,
          mountPath: path,
          readOnly,
        })),
        ...one.map,
        ...one.security,
        resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
      },
    }))

const group = fc
  .record({
    containers: fc.tuple(container(0), container(1)),
    volumes: fc.tuple(volume, volume, volume),
    address: maybe(
      fc.record({
        ipAddress: fc.record({
          type: fc.constantFrom('Public', 'Private'),
          ports: fc.uniqueArray(
            fc.record({
              port: fc.integer({ min: 1, max: 65_535 }),
              protocol: fc.constantFrom('TCP', 'UDP'),
            }),
            { maxLength: 3, selector: (one) => one.port },
          ),
        }),
      }),
    ),
    dns: maybe(
      fc.record({
        dnsConfig: fc.record({
          nameServers: fc.constant(['10.0.0.1', '::1']),
          searchDomains: mostly(fc.constant('a.b c.d.')),
          options: mostly(fc.constant('ndots:2 rotate')),
        }),
      }),
    ),
  })
  .map(({ containers, volumes, address, dns }) => ({
    osType: 'Linux',
    restartPolicy: 'Never',
    containers,
    volumes: volumes.map((source, at) => ({ name: `v${at}`, ...source })),
    ...address,
    ...dns,
  }))

const rules = { limits: defaultContainerLimits, seal: testSeal, allowedRegistries: [] }

let podman: ThrowawayPodman | string = 'not started'
before(async () => {
  podman = await startPodman()
  if (typeof podman === 'string') return
  await writeFile(
    join(podman.folder, 'Containerfile'),
    `FROM ${testImage}\nVOLUME ["/declared", "/mnt/other"]\n`,
  )
  await podman.podman('build', '-q', '-t', volumeImage, podman.folder)
})
after(async () => {
  if (typeof podman !== 'string') await podman[Symbol.asyncDispose]()
})

test('what is accepted is made as asked, and goes without a trace', async (t) => {
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  const { folder, target } = podman
  const shareRoot = join(folder, 'shares')
  await mkdir(shareRoot)
  const around: GroupHostContext = {
    hostAddress: '127.0.0.1',
    keptPorts: [],
    shareRoot,
    cpusMax: undefined,
    processesPerContainerMax: 100,
    resolvesSecrets: false,
    clonesRepositories: false,
    allowedRegistries: [],
  }
  await using engine = new DockerEngine({ target, installation: 'made' })
  const seen = { accepted: 0, refused: 0, started: 0 }
  await fc.assert(
    fc.asyncProperty(group, async (properties) => {
      const model = modelOf(properties)
      if (bodyProblems(model, rules).length > 0) {
        seen.refused += 1
        return
      }
      seen.accepted += 1
      const spec = freePorts(specOf(model, around))
      await using held = new AsyncDisposableStack()
      const contents = await groupContents(
        model,
        { seal: testSeal, secrets: undefined, repositories: undefined, shareRoot },
        held,
      )
      try {
        try {
          await engine.create('made', spec, contents)
        } catch (error) {
          // A volume inside another one is refused here, as what programs write may be links.
          assert.ok(error instanceof EngineError && error.kind === 'refused', String(error))
          assert.match(error.message, /inside another one .* that may have links/s)
          seen.refused += 1
          return
        }
        await compare(podman as ThrowawayPodman, spec, contents.environment ?? new Map())
        try {
          await engine.start(
            'made',
            spec,
            spec.parts.map((part) => part.name),
          )
          seen.started += 1
        } catch (error) {
          // Few of these commands can be run. A difference would be a fault.
          assert.ok(error instanceof EngineError && error.kind === 'refused', String(error))
          assert.doesNotMatch(error.message, /something else/)
        }
      } finally {
        await engine.remove('made')
      }
      await assertNothingLeft(podman as ThrowawayPodman)
    }),
    { numRuns: runs * 2, ...(isLong ? {} : { seed: 7 }), endOnFailure: !isLong },
  )
  t.diagnostic(JSON.stringify(seen))
  assert.ok(seen.accepted >= runs / 2, JSON.stringify(seen))
})

test('a creation that fails leaves nothing behind', async (t) => {
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using engine = new DockerEngine({ target: podman.target, installation: 'made' })
  const part = (more: Partial<ContainerSpec>): ContainerSpec => ({
    name: 'one',
    init: false,
    image: volumeImage,
    environment: [],
    mounts: [{ volume: 'v0', path: '/mnt/x', readOnly: false }],
    limits: {},
    ...more,
  })
  const spec: GroupSpec = {
    hash: 'h1',
    restart: 'never',
    // The second cannot be created, because its image is missing. The third cannot be started.
    parts: [
      part({}),
      part({ name: 'two', image: 'localhost/armature-test/nothing:1' }),
      part({ name: 'three', command: ['/nowhere'] }),
    ],
    volumes: [{ kind: 'empty', name: 'v0' }],
    ports: [],
  }
  await assert.rejects(engine.create('failed', spec), { kind: 'absent' })
  await engine.remove('failed')
  await assertNothingLeft(podman)
})

function modelOf(properties: object): ContainerGroup {
  const preparation = { place, location: 'here', tenantId: 't', userAssigned: {} }
  return toModel({ properties, preparation }, undefined, { seal: testSeal, ids })
}

/** Host ports chosen by the engine: other programs on this machine do not matter. */
function freePorts(spec: GroupSpec): GroupSpec {
  return {
    ...spec,
    ports: spec.ports.map(({ publish, ...port }) =>
      publish === undefined ? port : { ...port, publish: { address: publish.address } },
    ),
  }
}

interface Told {
  readonly Name: string
  readonly Path: string
  readonly Args: readonly string[]
  readonly BoundingCaps: readonly string[] | null
  readonly Mounts: readonly {
    readonly Type: string
    readonly Name?: string
    readonly Source: string
    readonly Destination: string
    readonly RW: boolean
  }[]
  readonly Config: {
    readonly Env: readonly string[]
    readonly Entrypoint: string | readonly string[]
    readonly Hostname: string
    readonly User: string
    readonly Labels: Readonly<Record<string, string>>
  }
  readonly HostConfig: {
    readonly Privileged: boolean
    readonly PortBindings: Readonly<
      Record<string, readonly { readonly HostIp: string; readonly HostPort: string }[]>
    >
    readonly SecurityOpt: readonly string[]
    readonly Dns: readonly string[]
    readonly DnsSearch: readonly string[]
    readonly DnsOptions: readonly string[]
  }
}

const prefix = 'armature_made_made'
const usual = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]

async function compare(
  { podman }: ThrowawayPodman,
  spec: GroupSpec,
  secrets: ReadonlyMap<string, ReadonlyMap<string, string>>,
): Promise<void> {
  const listed = (await podman('ps', '-aq')).trim().split('\n')
  // The documented form of this command line.
  const all = JSON.parse(await podman('inspect', ...listed)) as readonly Told[]
  const byName = new Map(all.map((one) => [one.Name, one]))
  assert.deepEqual(
    [...byName.keys()].sort(),
    [prefix, ...spec.parts.map((part) => `${prefix}_part_${part.name}`)].sort(),
  )
  const sandbox = toldOf(byName, prefix)
  assert.deepEqual(
    Object.entries(sandbox.HostConfig.PortBindings)
      .map(([key, bindings]) => [key, bindings.map((one) => one.HostIp)])
      .sort(),
    spec.ports
      .flatMap(({ port, protocol, publish }) =>
        publish === undefined ? [] : [[`${port}/${protocol}`, [publish.address]]],
      )
      .sort(),
  )
  assert.deepEqual(sandbox.HostConfig.Dns, spec.dns?.servers ?? [])
  assert.deepEqual(sandbox.HostConfig.DnsSearch, spec.dns?.searchDomains ?? [])
  assert.deepEqual(sandbox.HostConfig.DnsOptions, spec.dns?.options ?? [])
  for (const part of spec.parts) {
    const files = ownFiles(
      all.find((one) => one.Name === prefix),
      spec,
      part,
      'libpod',
    )
    assert.equal(files.length, 6)
    const told = toldOf(byName, `${prefix}_part_${part.name}`)
    const isOwn = (one: (typeof told.Mounts)[number]): boolean =>
      files.some(({ source, path }) => source === one.Source && path === one.Destination && !one.RW)
    const rest = told.Mounts.filter((one) => !isOwn(one))
    assert.equal(told.Mounts.length - rest.length, files.length)
    comparePart(spec, part, { ...told, Mounts: rest }, secrets)
  }
}

function toldOf(all: ReadonlyMap<string, Told>, name: string): Told {
  const found = all.get(name)
  assert.ok(found, name)
  return found
}

function comparePart(
  spec: GroupSpec,
  part: ContainerSpec,
  told: Told,
  secrets: ReadonlyMap<string, ReadonlyMap<string, string>>,
): void {
  const { security = {}, command = [] } = part
  // No volume of those that an image declares is among them.
  assert.deepEqual(
    told.Mounts.map((one) => [one.Destination, one.Type, one.Name ?? one.Source, one.RW]).sort(),
    part.mounts
      .map(({ volume: name, path, readOnly }) => {
        const volume = spec.volumes.find((one) => one.name === name)
        return volume?.kind === 'host'
          ? [path, 'bind', volume.folder, !readOnly]
          : [path, 'volume', `${prefix}_volume_${name}`, !readOnly && volume?.kind !== 'files']
      })
      .sort(),
  )
  const own = ['PATH=/bin', 'TERM=xterm', 'container=podman', 'HOSTNAME=made']
  const asked = new Map([
    ...part.environment.map((one) => [one.name, one.value] as const),
    ...(secrets.get(part.name) ?? []),
  ])
  assert.deepEqual(
    [...told.Config.Env].sort(),
    [...own, ...[...asked].map(([key, text]) => `${key}=${text}`)].sort(),
  )
  if (command.length > 0) {
    assert.deepEqual(
      [told.Path, ...told.Args.slice(told.Args.length - command.length + 1)],
      [...command],
    )
  }
  assert.equal(told.Config.Hostname, 'made')
  if (security.user !== undefined) {
    const { user, group: id } = security
    assert.equal(told.Config.User, id === undefined ? `${user}` : `${user}:${id}`)
  }
  assert.equal(told.HostConfig.Privileged, false)
  const plain = (text: string): string => text.toUpperCase().replace(/^CAP_/, '')
  const add = (security.addCapabilities ?? []).map(plain)
  const drop = (security.dropCapabilities ?? []).map(plain)
  assert.deepEqual(
    (told.BoundingCaps ?? []).map(plain).sort(),
    usual.filter((one) => add.includes(one) || !(drop.includes('ALL') || drop.includes(one))),
  )
  assert.equal(
    told.HostConfig.SecurityOpt.includes('no-new-privileges'),
    security.allowPrivilegeEscalation === false,
  )
  assert.equal(told.Config.Labels['armature.part'], part.name)
}

async function assertNothingLeft({ podman }: ThrowawayPodman): Promise<void> {
  assert.equal((await podman('ps', '-aq')).trim(), '')
  assert.equal((await podman('volume', 'ls', '-q')).trim(), '')
}
