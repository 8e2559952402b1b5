/**
 * A Podman that creates something else than requested: a proxy changes the body of a creation. Each time the group
 * is removed, the caller is told the difference, and nothing has run.
 */

import assert from 'node:assert/strict'
import http from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { GroupSpec } from '../engine.ts'
import { startPodman, type ThrowawayPodman, testImage } from '../testing/podman.ts'
import { DockerEngine } from './docker-engine.ts'

type Body = Record<string, unknown>

/** The ordinary suite runs these, the long suite all of them. */
const always = new Set([
  'a folder of the host',
  'a volume that nobody asked for',
  'privileged',
  'the network of the host',
  'one more port',
  'no limits',
  'what an earlier version left',
])
const isLong = process.env['ARMATURE_TEST_LONG'] === '1'

/** A change of the body of a container, and what the caller is told. */
interface Change {
  readonly name: string
  readonly of: 'part' | 'sandbox'
  readonly change: (body: Body, outside: string) => Body
  readonly told: RegExp
  readonly kind?: 'busy'
}

const changes: readonly Change[] = [
  {
    name: 'a folder of the host',
    of: 'part',
    change: (body, outside) => ({
      ...body,
      mounts: [{ type: 'bind', source: outside, destination: '/host', options: ['rw', 'rbind'] }],
    }),
    told: /something is mounted at \/host/,
  },
  {
    name: 'a folder of the host in place of a volume',
    of: 'part',
    change: (body, outside) => ({
      ...body,
      volumes: [],
      mounts: [{ type: 'bind', source: outside, destination: '/data', options: ['rw', 'rbind'] }],
    }),
    told: /something else is mounted at \/data/,
  },
  {
    name: 'a volume that nobody asked for',
    of: 'part',
    change: (body) => ({
      ...body,
      volumes: [...(body['volumes'] as Body[]), { Name: 'stray', Dest: '/stray' }],
    }),
    told: /something is mounted at \/stray/,
  },
  {
    name: 'a volume that is writable',
    of: 'part',
    change: (body) => ({
      ...body,
      volumes: (body['volumes'] as Body[]).map((one) => ({ ...one, Options: ['rw'] })),
    }),
    told: /\/data is writable/,
  },
  {
    name: 'no volume',
    of: 'part',
    change: (body) => ({ ...body, volumes: [] }),
    told: /nothing is mounted at \/data/,
  },
  {
    name: 'privileged',
    of: 'part',
    change: (body) => ({ ...body, privileged: true }),
    told: /it is privileged/,
  },
  {
    name: 'a capability',
    of: 'part',
    change: (body) => ({ ...body, cap_add: ['SYS_ADMIN'] }),
    told: /the capability SYS_ADMIN/,
  },
  {
    name: 'a capability that was to be dropped',
    of: 'part',
    change: (body) => ({ ...body, cap_drop: [] }),
    told: /the capability CHOWN/,
  },
  {
    name: 'what an earlier version left',
    of: 'part',
    change: (body) => ({ ...body, cap_add: ['NET_RAW'], cap_drop: ['CHOWN'] }),
    told: /by an earlier version, and is made anew/,
    kind: 'busy',
  },
  {
    name: 'privileges to gain',
    of: 'part',
    change: (body) => ({ ...body, no_new_privileges: false }),
    told: /may gain privileges/,
  },
  {
    name: 'another user',
    of: 'part',
    change: (body) => ({ ...body, user: '0:0' }),
    told: /the user is '0:0'/,
  },
  {
    name: 'the network of the host',
    of: 'part',
    change: (body) => ({ ...body, netns: { nsmode: 'host' } }),
    told: /its network is 'host'/,
  },
  {
    name: 'the processes of the host',
    of: 'part',
    change: (body) => ({ ...body, pidns: { nsmode: 'host' } }),
    told: /shares the processes of host/,
  },
  {
    name: 'the host name of the host',
    of: 'part',
    change: ({ hostname: _, ...body }) => ({ ...body, utsns: { nsmode: 'host' } }),
    told: /shares the host name of host/,
  },
  {
    // As rootless Podman without delegated control groups does.
    name: 'no limits',
    of: 'part',
    change: (body) => ({ ...body, resource_limits: {} }),
    told: /no limit of memory, or a larger one.*no limit of processes/,
  },
  {
    name: 'a larger limit',
    of: 'part',
    change: (body) => ({
      ...body,
      resource_limits: { memory: { limit: 512 * 1024 * 1024 }, pids: { limit: 64 } },
    }),
    told: /no limit of memory, or a larger one/,
  },
  {
    name: 'a device',
    of: 'part',
    change: (body) => ({ ...body, devices: [{ path: '/dev/null:/dev/other' }] }),
    told: /it has devices/,
  },
  {
    name: 'a port on every address',
    of: 'sandbox',
    change: (body) => ({
      ...body,
      portmappings: (body['portmappings'] as Body[]).map(({ host_ip: _, ...one }) => one),
    }),
    told: /port 80\/tcp is published otherwise/,
  },
  {
    name: 'one more port',
    of: 'sandbox',
    change: (body) => ({
      ...body,
      portmappings: [
        ...(body['portmappings'] as Body[]),
        { container_port: 99, protocol: 'tcp', host_ip: '127.0.0.1' },
      ],
    }),
    told: /port 99\/tcp is published/,
  },
  {
    name: 'a sandbox on the network of the host',
    of: 'sandbox',
    change: ({ portmappings: _, ...body }) => ({ ...body, netns: { nsmode: 'host' } }),
    told: /its network is 'host'/,
  },
  {
    name: 'a sandbox with a folder of the host',
    of: 'sandbox',
    change: (body, outside) => ({
      ...body,
      mounts: [{ type: 'bind', source: outside, destination: '/host', options: ['rw', 'rbind'] }],
    }),
    told: /something is mounted at \/host/,
  },
]

const spec: GroupSpec = {
  hash: 'h1',
  hostname: 'group',
  restart: 'never',
  parts: [
    {
      name: 'web',
      init: false,
      image: testImage,
      command: ['sh', '-c', 'while :; do sleep 1; done'],
      environment: [],
      mounts: [{ volume: 'v0', path: '/data/', readOnly: true }],
      limits: { memoryBytes: 64 * 1024 * 1024, processes: 64 },
      security: {
        user: 77,
        group: 88,
        dropCapabilities: ['CHOWN'],
        allowPrivilegeEscalation: false,
      },
    },
  ],
  volumes: [{ kind: 'empty', name: 'v0' }],
  ports: [{ port: 80, protocol: 'tcp', publish: { address: '127.0.0.1' } }],
}

describe('what Podman made is compared with what was asked for', () => {
  let podman: ThrowawayPodman | string = 'not started'
  before(async () => {
    podman = await startPodman()
  })
  after(async () => {
    if (typeof podman !== 'string') await podman[Symbol.asyncDispose]()
  })

  test('nothing changed, nothing refused', async (t) => {
    const reason = typeof podman === 'string' ? podman : ''
    if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
    await using between = await startBetween(podman, (_, body) => body)
    await using engine = new DockerEngine({ target: between.target, installation: 'verify' })
    await engine.create('same', spec)
    await engine.start('same', spec, ['web'])
    const observed = await engine.observe('same')
    assert.deepEqual(
      observed.parts.map(({ state }) => state.kind),
      ['running'],
    )
    await engine.remove('same')
  })

  for (const [at, { name, of, change, told, kind = 'refused' }] of changes.entries()) {
    if (!isLong && !always.has(name)) continue
    test(name, async (t) => {
      const reason = typeof podman === 'string' ? podman : ''
      if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
      const { folder } = podman
      await using between = await startBetween(podman, (made, body) =>
        made === of ? change(body, folder) : body,
      )
      await using engine = new DockerEngine({ target: between.target, installation: 'verify' })
      const group = `g${at}`
      await assert.rejects(
        async () => {
          await engine.create(group, spec)
          await engine.start(group, spec, ['web'])
        },
        { name: 'EngineError', kind, message: told },
      )
      assert.equal(between.started(of), 0, 'it never ran')
      assert.deepEqual(await podman.contents(), [])
    })
  }
})

/** A container that is never started, out of which the accounts of its image are read. */
function isRead(body: Body): boolean {
  return (body['labels'] as Body)['armature.hash'] === 'unstarted'
}

/** A socket in front of the engine's that changes the bodies of creations. */
async function startBetween(
  { folder, target }: ThrowawayPodman,
  change: (kind: 'part' | 'sandbox', body: Body) => Body,
): Promise<
  AsyncDisposable & {
    readonly target: { readonly kind: 'socket'; readonly path: string }
    started(kind: 'part' | 'sandbox'): number
  }
> {
  const path = join(folder, `between-${process.hrtime.bigint()}.sock`)
  const starts: string[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      let bytes: Buffer = Buffer.concat(chunks)
      const url = request.url ?? ''
      if (request.method === 'POST' && url.endsWith('/containers/create')) {
        const body = JSON.parse(bytes.toString()) as Body
        const kind = String(body['name']).includes('_part_') ? 'part' : 'sandbox'
        bytes = Buffer.from(JSON.stringify(isRead(body) ? body : change(kind, body)))
      }
      if (/\/start$/.test(url)) starts.push(url.includes('_part_') ? 'part' : 'sandbox')
      const socketPath = target.kind === 'socket' ? target.path : ''
      const { 'transfer-encoding': _, ...headers } = request.headers
      const onward = http.request(
        {
          socketPath,
          method: request.method ?? 'GET',
          path: url,
          headers: { ...headers, 'content-length': bytes.length },
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(response)
        },
      )
      onward.on('error', (error) => response.destroy(error))
      onward.end(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    target: { kind: 'socket', path },
    started: (kind) => starts.filter((one) => one === kind).length,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
