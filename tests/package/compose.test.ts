/**
 * `deploy/compose.yaml` as it stands, run by Podman: each service with its image, variables, volumes, ports and
 * restrictions. The walks of a newcomer go through the balancer. Images are made of this machine's programs.
 */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { startPodman, type ThrowawayPodman } from '#engines/containers/testing/podman.ts'
import { findPostgres, howToGetPostgres } from '#stores/testing/postgres-server.ts'
import { type Attached, attachInstallation } from '../e2e/installation.ts'
import { walks } from '../e2e/newcomer.ts'
import { blocksOf, guides, openDesk } from '../e2e/pasted-guides.ts'
import { isLong } from '../long.ts'
import {
  answered,
  buildHaproxy,
  buildImage,
  buildPostgres,
  homeOf,
  image,
} from './container-base.ts'

const deploy = join(import.meta.dirname, '../../deploy')
const port = 20_000 + (process.pid % 10_000)
const publicUrl = `http://127.0.0.1:${port}`
/** The metrics of the first replica, which the compose file leaves inside its network. */
const metricsPort = port + 10_000
const environment = { METRICS: `http://127.0.0.1:${metricsPort}` }
const variables: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'correct-horse',
  POSTGRES_IMAGE: 'localhost/armature-test/postgres:1',
  HAPROXY_IMAGE: 'localhost/armature-test/haproxy:1',
  ARMATURE_IMAGE: image,
  ARMATURE_KEY: Buffer.alloc(32, 9).toString('base64'),
  ARMATURE_PUBLIC_URL: publicUrl,
  ARMATURE_LISTEN: `127.0.0.1:${port}`,
}

interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly mem_limit?: string
  readonly pids_limit?: number
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly depends_on?: readonly string[]
  readonly restart?: string
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

function readCompose(): Compose {
  const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8')
  const filled = text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, usual = '') => {
    return variables[name] ?? String(usual)
  })
  return parse(filled, { merge: true }) as Compose
}

/** Services in the order of their dependencies. */
function inOrder({ services }: Compose): readonly (readonly [string, Service])[] {
  const done: (readonly [string, Service])[] = []
  const left = new Map(Object.entries(services))
  while (left.size > 0) {
    const next = [...left].filter(([, { depends_on = [] }]) => !depends_on.some((n) => left.has(n)))
    assert.ok(next.length > 0, 'services wait for each other')
    for (const [name, service] of next) {
      done.push([name, service])
      left.delete(name)
    }
  }
  return done
}

/** The network of the services. Its name servers are not used: each service is told the addresses of all. */
const subnet = `10.${200 + (process.pid % 50)}.${process.pid % 250}`
const replicas = ['replica-1', 'replica-2']

/**
 * Makes the public address lead to the balancer inside a replica, too, as a name of a real installation does. Redirect
 * addresses over http have to be loopback ones, so it is forwarded there.
 */
async function leadToBalancer(engine: ThrowawayPodman, replica: string): Promise<AsyncDisposable> {
  const at = inOrder(readCompose()).findIndex(([name]) => name === 'balancer')
  const to = `{ host: '${subnet}.${at + 10}', port: 8080 }`
  const script = `require('node:net').createServer((from) => {
    const to = require('node:net').connect(${to})
    from.pipe(to).pipe(from)
    for (const one of [from, to]) one.on('error', () => { from.destroy(); to.destroy() })
  }).listen(${port}, '127.0.0.1')`
  const name = `way-of-${replica}`
  const words = ['--detach', '--name', name, '--network', `container:${replica}`]
  await engine.podman('run', ...words, '--entrypoint', 'node', image, '-e', script)
  return {
    async [Symbol.asyncDispose]() {
      await engine.podman('rm', '--force', name)
    },
  }
}

async function up(engine: ThrowawayPodman, network: string): Promise<void> {
  const compose = readCompose()
  const services = inOrder(compose)
  await engine.podman('network', 'create', '--subnet', `${subnet}.0/24`, network)
  const hosts = services.map(([name], at) => [name, `${subnet}.${at + 10}`] as const)
  for (const [name, service] of services) {
    const { environment = {}, volumes = [], ports = [] } = service
    const placed = volumes.map((volume) =>
      volume.startsWith('./') ? `${deploy}/${volume.slice(2)}` : volume,
    )
    await engine.podman(
      ...['run', '--detach', '--name', name, '--network', network],
      ...['--ip', hosts.find(([one]) => one === name)?.[1] ?? ''],
      ...hosts.flatMap(([host, address]) => ['--add-host', `${host}:${address}`]),
      ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
      ...placed.flatMap((volume) => ['--volume', volume]),
      ...ports.flatMap((published) => ['--publish', published]),
      ...(name === 'replica-1' ? ['--publish', `127.0.0.1:${metricsPort}:9100`] : []),
      ...(service.restart === undefined ? [] : ['--restart', service.restart]),
      ...(service.read_only === true ? ['--read-only'] : []),
      ...(service.mem_limit === undefined ? [] : [`--memory=${service.mem_limit}`]),
      ...(service.pids_limit === undefined ? [] : [`--pids-limit=${service.pids_limit}`]),
      ...(service.cap_drop ?? []).map((one) => `--cap-drop=${one.toLowerCase()}`),
      ...(service.security_opt ?? []).map((one) => `--security-opt=${one}`),
      ...(name === 'database' ? ['--user', '999:999'] : []),
      service.image,
    )
  }
}

describe('the compose file', { skip: !isLong, timeout: 900_000 }, () => {
  let reason = 'not tried'
  const opened = new AsyncDisposableStack()
  let a: Attached | undefined
  let engine: ThrowawayPodman | undefined
  before(async () => {
    const podman = await startPodman()
    const binaries = findPostgres()
    if (binaries === undefined) reason = howToGetPostgres
    else if (!existsSync('/usr/sbin/haproxy')) reason = 'no haproxy: `apt-get install haproxy`'
    else reason = typeof podman === 'string' ? podman : ''
    if (typeof podman !== 'string') engine = opened.use(podman)
    if (reason !== '' || typeof podman === 'string' || binaries === undefined) return
    const folder = mkdtempSync(join(tmpdir(), 'armature-compose-'))
    opened.defer(() => rmSync(folder, { recursive: true, force: true }))
    await buildImage(podman, folder)
    await buildPostgres(podman, variables['POSTGRES_IMAGE'] ?? '', binaries)
    await buildHaproxy(podman, variables['HAPROXY_IMAGE'] ?? '')
    const network = `armature-test-${process.pid}`
    opened.defer(() => podman.podman('network', 'rm', '--force', network).then(() => undefined))
    await up(podman, network)
    await answered(`${publicUrl}/readyz`)
    for (const name of replicas) {
      const home = await homeOf(podman, name, join(folder, name), publicUrl)
      // One of them created the owner.
      if (existsSync(join(home, 'owner.json'))) a = await attachInstallation(home)
    }
  })
  after(() => opened[Symbol.asyncDispose]())

  walks(() => {
    assert.ok(a !== undefined, reason)
    return { a, b: a }
  })

  const paste = async (guide: string): Promise<void> => {
    assert.ok(a !== undefined, reason)
    using desk = openDesk()
    const pasted = guides[guide] ?? { tells: [] }
    await desk.paste(a.home, blocksOf(guide), { ...pasted, environment })
  }
  // Each replica asks the public address as an identity provider.
  test('guides/consent.md, pasted', { timeout: 300_000 }, async () => {
    assert.ok(engine !== undefined, reason)
    for (const name of replicas) opened.use(await leadToBalancer(engine, name))
    await paste('guides/consent.md')
  })
  // Simulated containers live in the process that made them (decision 181).
  const inOneProcess = ['guides/billing.md', 'guides/containers.md']
  for (const guide of Object.keys(guides)) {
    if (inOneProcess.includes(guide) || guide === 'guides/consent.md') continue
    test(`${guide}, pasted`, { timeout: 300_000 }, () => paste(guide))
  }
  describe('with one replica down', () => {
    before(async () => {
      // Not the one whose metrics are published.
      await engine?.podman('stop', 'replica-2')
      await answered(`${publicUrl}/readyz`)
    })
    for (const guide of inOneProcess) {
      test(`${guide}, pasted`, { timeout: 300_000 }, () => paste(guide))
    }
  })
})
