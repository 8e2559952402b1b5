/** Tests of what a program sees inside its container, for every engine that runs programs. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTar } from '../docker/tar.ts'
import type { ContainerSpec, GroupContents, GroupSpec, Session } from '../engine.ts'
import {
  type ContractFixture,
  drive,
  logOf,
  type OpenBackend,
  part,
  partOf,
  type Require,
  spec,
  until,
  untilRunAgain,
  withFixture,
} from './fixture.ts'

/** A part that runs a shell script once. */
function script(
  fixture: ContractFixture,
  name: string,
  text: string,
  more: Partial<ContainerSpec> = {},
): ContainerSpec {
  return part(fixture, name, {}, { command: ['sh', '-c', text], ...more })
}

/** Runs a group until all its parts have ended; returns the output of the named one. */
async function outputOf(
  fixture: ContractFixture,
  name: string,
  wanted: GroupSpec,
  contents: GroupContents = {},
): Promise<string> {
  const group = fixture.group()
  await drive(fixture, group, wanted, { contents })
  await until(fixture, group, (seen) => partOf(seen, name).state.kind === 'terminated')
  const text = await logOf(fixture, group, name)
  await fixture.engine().remove(group)
  return text
}

async function textOf(session: Session): Promise<string> {
  let text = ''
  for await (const { bytes } of session.output) text += Buffer.from(bytes)
  return text
}

export function programsContract(name: string, open: OpenBackend, require: Require): void {
  withFixture(`programs in containers: ${name}`, open, require, (fixture) => {
    promiseSharing(fixture)
    promiseVolumes(fixture)
    promiseSurroundings(fixture)
    promiseTalking(fixture)
  })
}

/** Serves one word by HTTP on its port. */
const server = (port: number) =>
  `printf word > /tmp/index.html; exec busybox httpd -f -p ${port} -h /tmp`

function promiseSharing({ test }: ContractFixture): void {
  test('two parts talk over localhost', async (fixture) => {
    const client =
      'for i in $(busybox seq 100); do wget -qO- http://127.0.0.1:8080 && exit 0; sleep 0.1; done'
    const wanted = spec([script(fixture, 'web', server(8080)), script(fixture, 'side', client)])
    assert.match(await outputOf(fixture, 'side', wanted), /word$/)
  })

  test('a published port answers on the host', async (fixture) => {
    const group = fixture.group()
    const ports = [{ port: 80, protocol: 'tcp', publish: { address } }] as const
    await drive(fixture, group, spec([script(fixture, 'web', server(80))], { ports }))
    const { published } = await fixture.engine().observe(group)
    const text = await eventually(fixture, () => ask(published[0]?.hostPort ?? 0))
    assert.match(text, /word$/)
  })
}

/** Where an installation publishes ports if nothing is set. */
const address = '127.0.0.2'

/** Sends one request and returns the answer; empty while nobody listens. */
function ask(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  const socket = createConnection({ host: address, port }, () =>
    socket.write('GET / HTTP/1.0\r\n\r\n'),
  )
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => resolve(''))
  socket.on('close', () => resolve(text))
  return promise
}

async function eventually(fixture: ContractFixture, look: () => Promise<string>): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const text = await look()
    if (text !== '') return text
    await fixture.backend().pass()
  }
  return ''
}

function promiseVolumes({ test }: ContractFixture): void {
  const keys = { kind: 'files', name: 'keys', fileMode: 0o400 } as const
  const files = new Map([['keys', [{ name: 'password', bytes: Buffer.from('hush') }]]])

  test('secret files have their bytes and mode, in memory, out of reach of writes', async (fixture) => {
    const mounts = [{ volume: 'keys', path: '/run/keys', readOnly: false }]
    const text = [
      'cat /run/keys/password; echo',
      'stat -c %a /run/keys/password',
      'stat -f -c %T /run/keys',
      'touch /run/keys/more 2>/dev/null || echo no',
    ].join('; ')
    const wanted = spec([script(fixture, 'job', text, { mounts })], { volumes: [keys] })
    assert.equal(await outputOf(fixture, 'job', wanted, { files }), 'hush\n400\ntmpfs\nno\n')
  })

  test('secrets survive the restart of a part and show in no label', async (fixture) => {
    const group = fixture.group()
    const mounts = [{ volume: 'keys', path: '/run/keys', readOnly: true }]
    const parts = [script(fixture, 'job', 'cat /run/keys/password; echo; exit 1', { mounts })]
    const wanted = spec(parts, { volumes: [keys], restart: 'on-failure' })
    await drive(fixture, group, wanted, { contents: { files } })
    await untilRunAgain(fixture, group, wanted, { name: 'job', runs: 3 })
    await fixture.engine().stop(group, 0)
    const text = await logOf(fixture, group, 'job')
    assert.ok(text.split('\n').filter(Boolean).length >= 2)
    assert.ok(
      text
        .split('\n')
        .filter(Boolean)
        .every((line) => line === 'hush'),
      text,
    )
    assert.doesNotMatch(JSON.stringify(await fixture.engine().list()), /hush/)
    await fixture.engine().remove(group)
  })

  test('an empty folder is shared, writable by any user, and gone with the group', async (fixture) => {
    const mounts = [{ volume: 'data', path: '/data', readOnly: false }]
    const write = script(fixture, 'write', 'id -u > /data/who', {
      init: true,
      mounts,
      security: { user: 1234, group: 1234 },
    })
    const read = script(fixture, 'read', 'cat /data/who; ls /data', { mounts })
    const wanted = spec([write, read], { volumes: [{ kind: 'empty', name: 'data' }] })
    assert.equal(await outputOf(fixture, 'read', wanted), '1234\nwho\n')
    assert.equal(await outputOf(fixture, 'read', wanted), '1234\nwho\n')
  })

  test('an archive is unpacked; a folder of the host is the host’s', async (fixture) => {
    const folder = await mkdtemp(join(tmpdir(), 'armature-share-'))
    try {
      await writeFile(join(folder, 'note'), 'from the host\n')
      const archive = writeTar([
        { name: 'site/', mode: 0o755 },
        { name: 'site/index', mode: 0o644, bytes: Buffer.from('from the archive\n') },
      ])
      const archives = new Map([
        [
          'repo',
          async function* () {
            yield archive.subarray(0, 700)
            yield archive.subarray(700)
          },
        ],
      ])
      const mounts = [
        { volume: 'repo', path: '/repo', readOnly: true },
        { volume: 'share', path: '/share', readOnly: false },
      ]
      const text = 'cat /repo/site/index /share/note; touch /repo/x 2>/dev/null || echo no'
      const wanted = spec([script(fixture, 'job', text, { mounts })], {
        volumes: [
          { kind: 'archive', name: 'repo' },
          { kind: 'host', name: 'share', folder },
        ],
      })
      const output = await outputOf(fixture, 'job', wanted, { archives })
      assert.equal(output, 'from the archive\nfrom the host\nno\n')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
}

function promiseSurroundings({ test }: ContractFixture): void {
  test('environment: plain and secret, the secret wins', async (fixture) => {
    const job = script(fixture, 'job', 'echo "$PLAIN,$SECRET,$BOTH"', {
      environment: [
        { name: 'PLAIN', value: 'a b=c' },
        { name: 'BOTH', value: 'plain' },
      ],
    })
    const secrets = new Map([
      ['SECRET', 'hush'],
      ['BOTH', 'secret'],
    ])
    const contents = { environment: new Map([['job', secrets]]) }
    assert.equal(await outputOf(fixture, 'job', spec([job]), contents), 'a b=c,hush,secret\n')
  })

  test('host name and resolver are the group’s', async (fixture) => {
    const dns = { servers: ['192.0.2.53'], searchDomains: ['corp.test'], options: ['ndots:3'] }
    const text = 'hostname; cat /etc/resolv.conf'
    const wanted = spec([script(fixture, 'job', text)], { hostname: 'the-group', dns })
    const output = await outputOf(fixture, 'job', wanted)
    assert.match(output, fixture.backend().hostname ?? /^the-group\n/)
    assert.match(
      output,
      new RegExp(`^nameserver ${fixture.backend().resolver ?? dns.servers[0]}$`, 'm'),
    )
    assert.match(output, /search corp\.test/)
    assert.match(output, /options ndots:3/)
  })

  test('memory over the limit ends the part, and says why it may be', async (fixture) => {
    const group = fixture.group()
    const hungry = script(fixture, 'hungry', 'x=$(cat /dev/zero | busybox tr "\\0" a); echo $x', {
      limits: { memoryBytes: 32 * 1024 * 1024, cpu: 0.5, processes: 50 },
    })
    await drive(fixture, group, spec([hungry]))
    const seen = await until(
      fixture,
      group,
      (each) => partOf(each, 'hungry').state.kind === 'terminated',
    )
    const { state } = partOf(seen, 'hungry')
    assert.ok(state.kind === 'terminated')
    assert.deepEqual([state.exitCode, state.reason], [137, 'OutOfMemory'])
  })

  test('capabilities and users are as asked', async (fixture) => {
    const text = 'id -u; id -g; cat /proc/self/status | busybox grep -c "CapEff:.*0000000000000000"'
    const job = script(fixture, 'job', text, {
      security: { user: 77, group: 88, dropCapabilities: ['ALL'], allowPrivilegeEscalation: false },
    })
    assert.equal(await outputOf(fixture, 'job', spec([job])), '77\n88\n1\n')
  })

  test('no program makes packets of its own, whatever the engine gives', async (fixture) => {
    const job = script(fixture, 'job', 'cat /proc/self/status')
    const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(await outputOf(fixture, 'job', spec([job])))
    assert.equal((BigInt(`0x${bounding?.[1]}`) >> 13n) & 1n, 0n)
  })

  test('a command that cannot be run is refused at start, the other parts start', async (fixture) => {
    const group = fixture.group()
    const broken = { ...part(fixture, 'broken'), command: ['no-such-program'] }
    const wanted = spec([broken, part(fixture, 'web')])
    await fixture.engine().create(group, wanted)
    await assert.rejects(fixture.engine().start(group, wanted, ['broken', 'web']), {
      kind: 'refused',
    })
    assert.equal(partOf(await fixture.engine().observe(group), 'web').state.kind, 'running')
  })
}

const score = '/proc/self/oom_score_adj'

function promiseTalking({ test }: ContractFixture): void {
  test('exec: streams apart, input, exit code, terminal', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'web')]))
    const run = (command: string, more = {}) =>
      fixture.engine().exec(group, 'web', { command: ['sh', '-c', command], ...more })

    await using loud = await run('echo out; echo error >&2; exit 5')
    const chunks: Record<string, string> = { out: '', error: '' }
    for await (const { stream, bytes } of loud.output) {
      chunks[stream] = `${chunks[stream]}${Buffer.from(bytes)}`
    }
    assert.deepEqual(chunks, { out: 'out\n', error: 'error\n' })
    assert.equal(await loud.exitCode(), 5)

    await using asked = await run('read x; echo "got $x"; read y; echo "got $y"', { input: true })
    await asked.write(Buffer.from('one\n'))
    await asked.write(Buffer.from('two\n'))
    assert.equal(await textOf(asked), 'got one\ngot two\n')

    await using counted = await run('cat; sleep 0.2; echo end', { input: true })
    await counted.write(Buffer.from('one\n'))
    counted.end()
    await assert.rejects(counted.write(Buffer.from('late\n')), { name: 'EngineError' })
    assert.equal(await textOf(counted), 'one\nend\n')
    assert.equal(await counted.exitCode(), 0)

    await using terminal = await run('read x; busybox stty size; busybox tty', {
      input: true,
      terminal: { rows: 33, columns: 101 },
    })
    await terminal.write(Buffer.from('\n'))
    assert.match(await textOf(terminal), /33 101\r\n\/dev\/pts/)
  })

  test('where the machine has no more memory, programs and commands are killed first', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([script(fixture, 'web', `cat ${score}; sleep 100`)]))
    await using command = await fixture.engine().exec(group, 'web', { command: ['cat', score] })
    assert.equal(await textOf(command), '1000\n')
    assert.equal(await eventually(fixture, () => logOf(fixture, group, 'web')), '1000\n')
    await fixture.engine().remove(group)
  })

  test('attach follows what is written', async (fixture) => {
    const group = fixture.group()
    const chatty = 'i=0; while :; do echo "tick $i"; i=$((i+1)); sleep 0.1; done'
    await drive(fixture, group, spec([script(fixture, 'web', chatty)]))
    await using session = await fixture.engine().attach(group, 'web')
    for await (const { bytes } of session.output) {
      assert.match(String(Buffer.from(bytes)), /tick \d+/)
      break
    }
    assert.equal(await session.exitCode(), undefined)
    await fixture.engine().remove(group)
  })

  test('probes: by command and by HTTP, healthy, unhealthy and too late', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([script(fixture, 'web', server(8080))]))
    const exec = (command: string, seconds = 5) =>
      fixture
        .engine()
        .probe(group, 'web', { kind: 'exec', command: ['sh', '-c', command] }, seconds)
    assert.equal((await exec('exit 0')).healthy, true)
    assert.equal((await exec('exit 1')).healthy, false)
    assert.match((await exec('sleep 20', 0.2)).message, /did not end within/)
    const http = (port: number) =>
      fixture
        .engine()
        .probe(group, 'web', { kind: 'http', scheme: 'http', port, path: '/', headers: [] }, 5)
    const healthy = await eventually(fixture, async () => ((await http(8080)).healthy ? 'yes' : ''))
    assert.equal(healthy, 'yes')
    assert.equal((await http(9)).healthy, false)
    await fixture.engine().remove(group)
  })

  test('a long log streams and its tail is its end', async (fixture) => {
    const group = fixture.group()
    const many = 'busybox seq 1 20000'
    await drive(fixture, group, spec([script(fixture, 'job', many)]))
    await until(fixture, group, (seen) => partOf(seen, 'job').state.kind === 'terminated')
    const lines = (await logOf(fixture, group, 'job')).trimEnd().split('\n')
    assert.equal(lines.length, 20_000)
    assert.equal(lines.at(-1), '20000')
    assert.equal(await logOf(fixture, group, 'job', { tail: 2 }), '19999\n20000\n')
    await fixture.engine().remove(group)
  })
}
