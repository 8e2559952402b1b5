/**
 * The unit for systemd. systemd's own program finds no faults in it, and systemd runs it: as the first process of namespaces
 * of its own, on a copy of this machine's files in which only this unit is enabled.
 */

import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { packedInto } from './packed.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const unit = join(root, 'deploy/armature.service')

/** In tenths, from 0 to 100: a service without any restriction has 96. */
const exposureMax = 40

function analyze(...words: readonly string[]) {
  return spawnSync('systemd-analyze', [...words, unit], { encoding: 'utf8' })
}

test('the unit file has no faults, and its service may do little', (t) => {
  const isThere = spawnSync('systemd-analyze', ['--version']).status === 0
  if (!requireOrSkip(t, isThere, 'systemd-analyze, of the package systemd')) return
  const { status, stderr } = analyze('verify', '--man=no')
  assert.equal(stderr, '')
  assert.equal(status, 0)
  const threshold = `--threshold=${exposureMax}`
  const judged = analyze('security', '--offline=yes', '--no-pager', threshold)
  assert.equal(judged.status, 0, judged.stdout)
})

/**
 * Becomes systemd. `$1` is an empty folder, `$2` the folder with the installed package, `$3` the Node to run it, `$4` the unit.
 * The folder is in memory and is gone with the namespaces.
 */
const becomeSystemd = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
rm -rf etc/systemd/system
mkdir -p etc/systemd/system usr/local/lib usr/local/bin
cp "$4" etc/systemd/system/
printf '[Unit]\\nRequires=armature.service dbus.socket\\n' > etc/systemd/system/try.target
ln -s /dev/null etc/systemd/system/systemd-udevd.service
rm -rf usr/local/lib/node_modules
cp -a "$2/lib/node_modules" usr/local/lib/
ln -sf ../lib/node_modules/armature-plane/bin/armature.mjs usr/local/bin/armature
cp "$3" usr/local/bin/node
printf 'ARMATURE_CONTAINERS=simulated\\nARMATURE_PORT=0\\n' > etc/armature.env
container=other exec chroot . /lib/systemd/systemd --system --unit=try.target --log-target=null
`

const whyNot =
  'systemd as a process of its own: root, /lib/systemd/systemd, unshare, nsenter, overlay and cgroup2'

/** Whether this machine gives a process what systemd needs. */
function mayRunSystemd(): boolean {
  const script = 'd=$(mktemp -d); mount -t cgroup2 cgroup2 $d && umount $d; e=$?; rmdir $d; exit $e'
  return (
    process.getuid?.() === 0 &&
    existsSync('/lib/systemd/systemd') &&
    spawnSync('unshare', ['--mount', 'sh', '-c', script]).status === 0
  )
}

test('systemd runs it: little is allowed, it starts again after a crash, and stops in order', async (t) => {
  if (!isLong) return t.skip('only in the long suite')
  if (!requireOrSkip(t, mayRunSystemd(), whyNot)) return
  const folder = mkdtempSync(join(tmpdir(), 'armature-unit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  const { tarball } = await packedInto(folder)
  const words = ['install', '--global', '--no-audit', '--no-fund', '--prefix', folder]
  await run('npm', [...words, tarball], { cwd: folder, env })

  const systemd = await startSystemd(t, folder)
  const inside = (...command: readonly string[]) => systemd.run(command)
  const armature = (...command: readonly string[]) =>
    inside('env', 'ARMATURE_HOME=/var/lib/armature', 'armature', ...command)
  const shown = async (name: string): Promise<string> =>
    (await inside('systemctl', 'show', '--value', `--property=${name}`, 'armature')).trim()

  await until(async () => (await shown('ActiveState')) === 'active')
  await armature('wait')
  await armature('resource-group', 'create', 'shop')
  const first = await shown('MainPID')
  const status = await inside('cat', `/proc/${first}/status`)
  assert.doesNotMatch(status, /^Uid:\t0\t/m)
  for (const line of [/^CapBnd:\t0+$/m, /^NoNewPrivs:\t1$/m, /^Seccomp:\t2$/m]) {
    assert.match(status, line)
  }
  const writes = (path: string) =>
    inside('nsenter', '--target', first, '--mount', '--root', 'touch', path)
  await writes('/var/lib/armature/may')
  for (const path of ['/usr/may-not', '/etc/may-not', '/var/lib/may-not']) {
    await assert.rejects(writes(path), /Read-only file system/)
  }

  await inside('systemctl', 'kill', '--signal=KILL', 'armature')
  await until(async () => (await shown('NRestarts')) === '1')
  await until(async () => !['0', first].includes(await shown('MainPID')))
  await armature('wait')
  assert.match(await armature('resource-group', 'list'), /^shop /m)

  await inside('systemctl', 'stop', 'armature')
  assert.deepEqual(
    [await shown('ActiveState'), await shown('Result'), await shown('ExecMainStatus')],
    ['inactive', 'success', '0'],
  )
})

async function startSystemd(t: test.TestContext, folder: string) {
  const name = `armature-unit-${process.pid}`
  const place = mkdtempSync(join(folder, 'root-'))
  // In a control group of its own, which systemd takes for the whole.
  const script = `set -e
    mount --make-rprivate /; mount -t cgroup2 cgroup2 "$1"; mkdir "$1/${name}"; echo $$ > "$1/${name}/cgroup.procs"; umount "$1"
    exec unshare --pid --fork --kill-child --uts --ipc --cgroup bash -c '${becomeSystemd.replaceAll("'", "'\\''")}' bash "$@"`
  const child = spawn(
    'unshare',
    ['--mount', 'bash', '-c', script, 'bash', place, folder, process.execPath, unit],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  t.after(async () => {
    child.kill('SIGKILL')
    await removeGroup(name)
  })
  const main = (): string =>
    readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  await until(async () => {
    assert.equal(child.exitCode, null, errors)
    return (
      main() !== '' && readFileSync(`/proc/${main()}/cmdline`, 'utf8').includes('systemd/systemd')
    )
  })
  const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd']
  await until(async () => existsSync(`/proc/${main()}/root/run/systemd/private`))
  return {
    async run(command: readonly string[]): Promise<string> {
      const words = ['--target', main(), ...namespaces, ...command]
      return (await run('nsenter', words, { timeout: 240_000 })).stdout
    },
  }
}

/** Removes what systemd leaves of its control groups. */
async function removeGroup(name: string): Promise<void> {
  const script = `d=$(mktemp -d); mount -t cgroup2 cgroup2 $d
    for n in $(seq 50); do find $d/${name} -depth -type d -exec rmdir {} + 2>&- ; [ -d $d/${name} ] || break; sleep 0.1; done
    [ ! -d $d/${name} ]; e=$?; umount $d; rmdir $d; exit $e`
  await run('unshare', ['--mount', 'bash', '-c', script])
}
