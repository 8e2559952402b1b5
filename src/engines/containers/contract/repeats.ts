/** Steps come twice, from another process, half done, or many at once. */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerEngine } from '../engine.ts'
import {
  type ContractFixture,
  drive,
  isEnded,
  logOf,
  part,
  partOf,
  spec,
  until,
} from './fixture.ts'

export function testRepeats({ test }: ContractFixture): void {
  test('every step may come twice, from another process', async (fixture) => {
    const group = fixture.group()
    const parts = [
      part(fixture, 'prepare', { print: 'once', exitCode: 0 }, { init: true }),
      part(fixture, 'web'),
      part(fixture, 'job', { print: 'once', exitCode: 0 }),
    ]
    const volumes = [{ kind: 'empty', name: 'data' }] as const
    const wanted = spec(parts, { volumes })
    await drive(fixture, group, wanted, { twice: true })
    const before = await until(fixture, group, isEnded('job'))
    assert.ok(before.parts.every((each) => each.restartCount === 0))
    for (const name of ['prepare', 'job']) {
      assert.equal((await logOf(fixture, group, name)).match(/^once$/gm)?.length, 1)
    }
    await drive(fixture, group, wanted, { twice: true, desired: 'stopped' })
    await drive(fixture, group, undefined, { twice: true, desired: 'absent' })
    assert.equal((await fixture.engine().observe(group)).empty, true)
  })

  test('a process that dies inside a step leaves nothing that another cannot finish', async (fixture) => {
    const volumes = [{ kind: 'files', name: 'keys', fileMode: 0o400 }] as const
    const contents = { files: new Map([['keys', [{ name: 'k', bytes: Buffer.from('v') }]]]) }
    const parts = [part(fixture, 'job', { print: 'once', exitCode: 0 }), part(fixture, 'web')]
    const wanted = spec(parts, { volumes })
    await fixture.engine().pull(fixture.backend().image)
    const deaths = fixture.backend().isBrief ? [10, 100] : [0, 10, 30, 60, 100, 150, 250]
    for (const deathMs of deaths) {
      const group = fixture.group()
      const dies = async (act: (engine: ContainerEngine) => Promise<void>) => {
        const dying = fixture.backend().open('contract')
        // It may be cut off at any point, and its result is ignored.
        const work = act(dying).catch(() => {})
        await sleep(deathMs)
        await dying[Symbol.asyncDispose]()
        await work
      }
      await dies(async (engine) => {
        await engine.create(group, wanted, contents)
        await engine.start(group, wanted, ['job', 'web'])
      })
      await drive(fixture, group, wanted, { contents, patient: true })
      const observed = await until(fixture, group, isEnded('job'))
      assert.equal(partOf(observed, 'web').state.kind, 'running')
      assert.equal((await logOf(fixture, group, 'job')).match(/^once$/gm)?.length, 1)
      await dies((engine) => engine.remove(group))
      await drive(fixture, group, undefined, { desired: 'absent', patient: true })
      const left = (await fixture.engine().list()).filter((each) => each.group === group)
      assert.deepEqual(left, [], `death after ${deathMs} ms`)
    }
  })

  test('stop and remove of nothing do nothing', async (fixture) => {
    await fixture.engine().stop('nobody', 0)
    await fixture.engine().remove('nobody')
  })

  test('groups at once do not disturb each other', async (fixture) => {
    const length = fixture.backend().isBrief ? 4 : 10
    const groups = Array.from({ length }, () => fixture.group())
    const wanted = spec([part(fixture, 'web'), part(fixture, 'side')])
    await Promise.all(groups.map((group) => drive(fixture, group, wanted)))
    for (const group of groups) {
      const { parts } = await fixture.engine().observe(group)
      assert.deepEqual(
        parts.map((each) => each.state.kind),
        ['running', 'running'],
      )
    }
    await Promise.all(groups.map((group) => fixture.engine().remove(group)))
    const left = (await fixture.engine().list()).filter((each) => groups.includes(each.group))
    assert.deepEqual(left, [])
  })
}
