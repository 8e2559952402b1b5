/** What an engine says of itself and of groups, images and others' objects. */

import assert from 'node:assert/strict'
import { EngineError } from '../engine.ts'
import { type ContractFixture, drive, part, partOf, spec } from './fixture.ts'

export function testObserving({ test }: ContractFixture): void {
  test('describes itself, and says the same each time', async (fixture) => {
    const first = await fixture.engine().describe()
    assert.deepEqual(await fixture.engine().describe(), first)
    assert.notEqual(first.title, '')
  })

  test('a group never heard of is an empty observation', async (fixture) => {
    const observed = await fixture.engine().observe('nobody', [fixture.backend().unknownImage])
    assert.deepEqual(observed, {
      empty: true,
      hash: undefined,
      sandbox: 'none',
      parts: [],
      address: undefined,
      published: [],
      imagesPresent: new Set(),
    })
  })

  test('an image in no registry cannot be pulled, one that is there need not be', async (fixture) => {
    const { image, unknownImage } = fixture.backend()
    await assert.rejects(fixture.engine().pull(unknownImage), EngineError)
    await fixture.engine().pull(image)
    const observed = await fixture.engine().observe('nobody', [image, unknownImage])
    assert.deepEqual(observed.imagesPresent, new Set([image]))
    const names = (await fixture.engine().images()).map((each) => each.name)
    assert.ok(names.includes(image) && !names.includes(unknownImage))
  })

  test('all that is made carries the labels, and no other installation sees it', async (fixture) => {
    const group = fixture.group()
    const wanted = spec([part(fixture, 'web')], { volumes: [{ kind: 'empty', name: 'data' }] })
    await drive(fixture, group, wanted)
    const owned = (await fixture.engine().list()).filter((each) => each.group === group)
    const { ownVolumes = 0 } = fixture.backend()
    assert.deepEqual(owned.map(({ kind, part }) => `${kind} ${part}`).sort(), [
      'container undefined',
      'container web',
      ...Array.from({ length: 1 + ownVolumes }, () => 'volume undefined'),
    ])
    assert.ok(owned.every((each) => each.hash === 'h1'))
    await using stranger = fixture.backend().open('stranger')
    assert.deepEqual(await stranger.list(), [])
    assert.equal((await stranger.observe(group)).empty, true)
    await stranger.remove(group)
    assert.equal(partOf(await fixture.engine().observe(group), 'web').state.kind, 'running')
  })
}
