/** How groups are made, started, restarted, stopped and removed. */

import assert from 'node:assert/strict'
import type { ObservedGroup } from '../engine.ts'
import {
  type ContractFixture,
  drive,
  fails,
  isEnded,
  logOf,
  part,
  partOf,
  spec,
  until,
  untilRunAgain,
} from './fixture.ts'

export function testLife({ test }: ContractFixture): void {
  test('create makes parts in order and starts none; start starts them', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'zeta'), part(fixture, 'alpha')])
    await fixture.engine().pull(fixture.backend().image)
    await fixture.engine().create(group, wanted)
    const made = await fixture.engine().observe(group)
    assert.equal(made.sandbox, 'up')
    assert.deepEqual(
      made.parts.map(({ name, state, hash }) => [name, state.kind, hash]),
      [
        ['zeta', 'created', 'h1'],
        ['alpha', 'created', 'h1'],
      ],
    )
    await fixture.engine().start(group, wanted, ['zeta', 'alpha'])
    const running = await fixture.engine().observe(group)
    assert.ok(running.parts.every((each) => each.state.kind === 'running'))
    assert.match(running.address ?? '', /^\d+\.\d+\.\d+\.\d+$/)
  })

  test('a part that never restarts keeps its exit code', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 3 })]))
    const observed = await until(fixture, group, isEnded('job'))
    const { state, restartCount } = partOf(observed, 'job')
    assert.ok(state.kind === 'terminated')
    assert.deepEqual([state.exitCode, state.reason, restartCount], [3, 'Error', 0])
    assert.ok(state.startedAt <= state.finishedAt)
  })

  test('on-failure restarts a failure and leaves a success alone', async (fixture) => {
    const group = fixture.group()
    const parts = [part(fixture, 'bad', { exitCode: 7 }), part(fixture, 'good', { exitCode: 0 })]
    const wanted = spec(parts, { restart: 'on-failure' })
    await drive(fixture, group, wanted)
    const seen = await untilRunAgain(fixture, group, wanted, { name: 'bad', runs: 3 })
    const good = partOf(await until(fixture, group, isEnded('good')), 'good')
    assert.ok(good.state.kind === 'terminated')
    assert.deepEqual([good.state.reason, good.restartCount], ['Completed', 0])
    assert.notEqual(partOf(seen, 'bad').state.kind, 'created')
    await drive(fixture, group, undefined, { desired: 'absent' })
  })

  test('always restarts a success too, and tells of the end before', async (fixture) => {
    const group = fixture.group()
    const parts = [part(fixture, 'loop', { exitCode: 0, afterSeconds: 1 })]
    const wanted = spec(parts, { restart: 'always' })
    await drive(fixture, group, wanted)
    const ready = (each: ObservedGroup) => partOf(each, 'loop').state.kind === 'running'
    const seen = await untilRunAgain(fixture, group, wanted, { name: 'loop', runs: 2, ready })
    const loop = partOf(seen, 'loop')
    assert.ok(loop.state.kind === 'running' && loop.previous !== undefined)
    assert.ok(loop.previous.finishedAt <= loop.state.startedAt)
    // Not every engine reports it. One that does reports the beginning of the same run.
    const { startedAt, finishedAt } = loop.previous
    assert.ok(startedAt === undefined || startedAt <= finishedAt)
    await drive(fixture, group, undefined, { desired: 'absent' })
  })

  test('init parts run one after the other, before the others', async (fixture) => {
    const group = fixture.group()
    const init = { init: true }
    const wanted = spec([
      part(fixture, 'first', { exitCode: 0 }, init),
      part(fixture, 'second', { exitCode: 0 }, init),
      part(fixture, 'main'),
    ])
    await drive(fixture, group, wanted)
    const { parts } = await fixture.engine().observe(group)
    const [first, second, main] = parts.map((each) => each.state)
    assert.ok(first?.kind === 'terminated' && second?.kind === 'terminated')
    assert.ok(main?.kind === 'running')
    assert.ok(first.finishedAt <= second.startedAt && second.finishedAt <= main.startedAt)
  })

  test('a failed init part keeps the others from starting', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([
      part(fixture, 'prepare', { exitCode: 9 }, { init: true }),
      part(fixture, 'main'),
    ])
    const last = (await drive(fixture, group, wanted)).at(-1)
    assert.ok(last?.kind === 'stuck' && last.part === 'prepare')
    assert.equal(partOf(await fixture.engine().observe(group), 'main').state.kind, 'created')
  })

  test('stop ends everything, keeps the log, and lasts; running again makes it anew', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'web', { print: 'here I am' })], { restart: 'always' })
    await drive(fixture, group, wanted)
    await drive(fixture, group, wanted, { desired: 'stopped' })
    const stopped = await fixture.engine().observe(group)
    assert.equal(stopped.sandbox, 'down')
    assert.equal(partOf(stopped, 'web').state.kind, 'terminated')
    assert.match(await logOf(fixture, group, 'web'), /here I am/)
    await fixture.backend().pass()
    assert.deepEqual(await fixture.engine().observe(group), stopped)
    await drive(fixture, group, wanted)
    assert.equal(partOf(await fixture.engine().observe(group), 'web').state.kind, 'running')
  })

  test('another hash is in the way until it is removed, then it is replaced', async (fixture) => {
    const group = fixture.group()
    const old = spec([part(fixture, 'web'), part(fixture, 'old')])
    const fresh = spec([part(fixture, 'web')], { hash: 'h2' })
    await drive(fixture, group, old)
    await fails(fixture.engine().create(group, fresh), 'busy')
    const steps = await drive(fixture, group, fresh)
    assert.deepEqual(
      steps.map((step) => step.kind),
      ['stop', 'remove', 'create', 'start', 'settled'],
    )
    const observed = await fixture.engine().observe(group)
    assert.deepEqual(
      observed.parts.map(({ name, hash }) => [name, hash]),
      [['web', 'h2']],
    )
  })

  test('remove leaves nothing, running or half made', async (fixture) => {
    const group = fixture.group()
    const volumes = [
      { kind: 'empty', name: 'data' },
      { kind: 'files', name: 'keys', fileMode: 0o400 },
    ] as const
    const contents = { files: new Map([['keys', [{ name: 'k', bytes: Buffer.from('v') }]]]) }
    const wanted = spec([part(fixture, 'web')], { volumes, restart: 'always' })
    await drive(fixture, group, wanted, { contents })
    await fixture.engine().remove(group)
    await fixture.engine().create(group, wanted, contents)
    await fixture.engine().remove(group)
    assert.equal((await fixture.engine().observe(group)).empty, true)
    assert.deepEqual(
      (await fixture.engine().list()).filter((each) => each.group === group),
      [],
    )
  })

  test('a group whose network is lost is seen as down and made anew', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'web')], { restart: 'always' })
    await drive(fixture, group, wanted)
    await fixture.backend().breakSandbox('contract', group)
    await until(fixture, group, (observed) => observed.sandbox === 'down')
    await drive(fixture, group, wanted)
    const observed = await fixture.engine().observe(group)
    assert.deepEqual([observed.sandbox, partOf(observed, 'web').state.kind], ['up', 'running'])
  })

  test('restart gives a part another run, once for each run it is asked about', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'web')], { restart: 'always' }))
    const startedAt = (observed: ObservedGroup) => {
      const { state } = partOf(observed, 'web')
      return state.kind === 'running' ? state.startedAt : 0
    }
    const first = startedAt(await fixture.engine().observe(group))
    const options = { startedAt: first, graceSeconds: 0 }
    await fixture.engine().restart(group, 'web', options)
    const second = startedAt(await until(fixture, group, (each) => startedAt(each) > first))
    await fixture.engine().restart(group, 'web', options)
    assert.equal(startedAt(await fixture.engine().observe(group)), second)
    await fails(fixture.engine().restart(group, 'nobody', options), 'absent')
  })
}
