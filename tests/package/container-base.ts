/** Images for tests, made of this machine's programs and their libraries, so that no image registry is needed. */

import { execFile } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeTar } from '#engines/containers/docker/tar.ts'
import type { ThrowawayPodman } from '#engines/containers/testing/podman.ts'
import { packedInto } from './packed.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

export const image = 'localhost/armature-test/armature:1'
const base = 'localhost/armature-test/node:1'

interface File {
  readonly name: string
  readonly bytes: Uint8Array
  readonly mode?: number
}

/** The program at its path, the libraries that its loader needs, and further files. */
async function treeOf(
  programs: Readonly<Record<string, string>>,
  files: readonly File[] = [],
): Promise<Uint8Array> {
  const found = new Map<string, string>()
  for (const [name, path] of Object.entries(programs)) {
    found.set(name, path)
    // A Debian folder may lack libraries that its libraries need; `ldd` follows all of them.
    const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }))
    for (const [, library = ''] of stdout.matchAll(/(?:=>\s+)?(\/\S+)\s+\(0x/g)) {
      found.set(library.slice(1), library)
    }
  }
  const all: File[] = [
    ...[...found].map(([name, path]) => ({ name, bytes: readFileSync(path), mode: 0o755 })),
    ...files,
  ]
  const folders = new Set(['tmp/', 'etc/'])
  for (const { name } of all) {
    const steps = name.split('/').slice(0, -1)
    steps.forEach((_, at) => {
      folders.add(`${steps.slice(0, at + 1).join('/')}/`)
    })
  }
  return writeTar([
    // Writable by whichever user a program runs as.
    ...[...folders].map((name) => ({ name, mode: /^tmp|\bdata\/$/.test(name) ? 0o1777 : 0o755 })),
    ...all.map(({ name, bytes, mode = 0o644 }) => ({ name, bytes, mode })),
  ])
}

async function importTree(
  { podman, folder }: ThrowawayPodman,
  name: string,
  tree: Uint8Array,
  changes: readonly string[],
): Promise<void> {
  const tarball = join(folder, 'tree.tar')
  writeFileSync(tarball, tree)
  await podman('import', ...changes.flatMap((change) => ['--change', change]), tarball, name)
}

/** The published image on a base with the running Node. */
export async function buildImage(engine: ThrowawayPodman, folder: string): Promise<void> {
  const tree = await treeOf({ 'usr/bin/node': process.execPath })
  await importTree(engine, base, tree, ['ENV PATH=/usr/bin'])
  const { context } = await packedInto(folder)
  const file = join(root, 'deploy/Containerfile')
  const options = ['--format', 'docker', '--isolation', 'chroot', '--build-arg', `RUNTIME=${base}`]
  await engine.podman('build', ...options, '--tag', image, '--file', file, context)
}

/** A PostgreSQL that takes the variables of the usual image. `binaries` is the folder of `initdb`. */
export async function buildPostgres(
  engine: ThrowawayPodman,
  name: string,
  binaries: string,
): Promise<void> {
  const home = realpathSync(join(binaries, '..'))
  const programs: Record<string, string> = {
    'bin/sh': '/bin/busybox',
    'bin/busybox': '/bin/busybox',
  }
  const files: File[] = []
  // Its parts find each other by the paths they were built with. Debian keeps other files elsewhere.
  const shared = home.replace('/usr/lib/', '/usr/share/')
  for (const folder of new Set([home, shared])) {
    for (const path of existsSync(folder) ? filesBelow(folder) : []) {
      const from = join(folder, path)
      const name = from.slice(1)
      if (/llvmjit|bitcode/.test(path)) continue
      if (path.startsWith('bin/') || path.includes('.so')) programs[name] = from
      else files.push({ name, bytes: readFileSync(from) })
    }
  }
  const applet = (name: string): File => ({
    name: `bin/${name}`,
    mode: 0o755,
    bytes: Buffer.from(`#!/bin/busybox sh\nexec /bin/busybox ${name} "$@"\n`),
  })
  const start = `#!/bin/sh
set -e
D=/var/lib/postgresql/data/cluster
if [ ! -s $D/PG_VERSION ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  ${home}/bin/initdb -D $D -U "$POSTGRES_USER" --pwfile=/tmp/password -A scram-sha-256 --locale=C -E UTF8
  echo 'host all all all scram-sha-256' >> $D/pg_hba.conf
  echo "create database $POSTGRES_DB" | ${home}/bin/postgres --single -D $D postgres
fi
exec ${home}/bin/postgres -D $D -c listen_addresses='*' -c unix_socket_directories=/tmp
`
  const tree = await treeOf(programs, [
    ...files,
    ...['echo', 'cat', 'rm', 'mkdir', 'chmod'].map(applet),
    { name: 'start', mode: 0o755, bytes: Buffer.from(start) },
    { name: 'etc/passwd', bytes: Buffer.from('postgres:x:999:999::/tmp:/bin/sh\n') },
    { name: 'etc/group', bytes: Buffer.from('postgres:x:999:\n') },
    { name: 'var/lib/postgresql/data/.keep', bytes: Buffer.from('') },
  ])
  await importTree(engine, name, tree, ['ENV PATH=/bin', 'CMD ["/start"]'])
}

/** HAProxy, started as its usual image starts it. */
export async function buildHaproxy(engine: ThrowawayPodman, name: string): Promise<void> {
  const tree = await treeOf({ 'usr/sbin/haproxy': '/usr/sbin/haproxy' }, [
    { name: 'usr/local/etc/haproxy/.keep', bytes: Buffer.from('') },
  ])
  const command = '"/usr/sbin/haproxy","-W","-db","-f","/usr/local/etc/haproxy/haproxy.cfg"'
  await importTree(engine, name, tree, ['ENV PATH=/usr/sbin', `CMD [${command}]`])
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const from = join(folder, path)
    return statSync(from, { throwIfNoEntry: false })?.isFile() === true
  })
}

/**
 * The home of a container that has begun to serve, copied out as an operator would, for requests from outside to an
 * address that is reachable.
 */
export async function homeOf(
  { podman }: ThrowawayPodman,
  container: string,
  place: string,
  url: string,
): Promise<string> {
  const path = join(place, 'running.json')
  for (let attempt = 0; !existsSync(path); attempt++) {
    if (attempt >= 900) throw new Error(`${container} does not serve`)
    await podman('cp', `${container}:/data/.`, place)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const running = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...running, localUrl: url, httpUrl: url }))
  return place
}

export async function answered(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => undefined,
    )
    if (status === 200) return
    if (attempt >= 900) throw new Error(`${url} answers ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
