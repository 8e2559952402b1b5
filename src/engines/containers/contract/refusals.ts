/** What an engine refuses, and what it publishes. */

import assert from 'node:assert/strict'
import type { GroupSpec } from '../engine.ts'
import { type ContractFixture, drive, fails, part, spec } from './fixture.ts'

export function testRefusals({ test }: ContractFixture): void {
  test('what the engine cannot do is refused before anything is made', async (fixture) => {
    const engine = fixture.engine()
    await engine.pull(fixture.backend().image)
    const web = part(fixture, 'web')
    const files = { volumes: [{ kind: 'files', name: 'keys', fileMode: 0o400 }] } as const
    const refused: readonly GroupSpec[] = [
      spec([{ ...web, gpu: 1 }]),
      spec([{ ...web, security: { privileged: true } }]),
      spec([{ ...web, security: { addCapabilities: ['ALL'] } }]),
      spec([{ ...web, security: { addCapabilities: ['net_raw'] } }]),
      spec([{ ...web, security: { addCapabilities: ['CHOWN', 'cap_sys_admin'] } }]),
      spec([{ ...web, security: { seccompProfile: 'unconfined' } }]),
      spec([{ ...web, name: 'Not A Token' }]),
      spec([{ ...web, mounts: [{ volume: 'nothing', path: '/x', readOnly: false }] }]),
      spec([web], files),
      ...['/mnt,source=/', '/mnt:/etc', '/mnt/../etc', '/mnt\n', '/', 'mnt'].map((path) =>
        spec([{ ...web, mounts: [{ volume: 'data', path, readOnly: false }] }], {
          volumes: [{ kind: 'empty', name: 'data' }],
        }),
      ),
      spec([web], { volumes: [{ kind: 'host', name: 'data', folder: '/tmp,target=/' }] }),
    ]
    for (const each of refused) await fails(engine.create('refused', each), 'refused')
    await fails(engine.create('../etc', spec([web])), 'refused')
    await fails(engine.observe('a/b'), 'refused')
    assert.equal((await engine.observe('refused')).empty, true)
  })

  test('a missing image is absent at create', async (fixture) => {
    const group = fixture.group()
    const web = { ...part(fixture, 'web'), image: fixture.backend().unknownImage }
    await fails(fixture.engine().create(group, spec([web])), 'absent')
    await fixture.engine().remove(group)
  })

  test('a host port has one holder; the other waits until it is free', async (fixture) => {
    const [one, two] = [fixture.group(), fixture.group()]
    const ports = [
      { port: 80, protocol: 'tcp', publish: { address: '127.0.0.1', port: 39_181 } },
    ] as const
    const wanted = spec([part(fixture, 'web')], { ports })
    await drive(fixture, one, wanted)
    const { published } = await fixture.engine().observe(one)
    assert.deepEqual(published, [
      { port: 80, protocol: 'tcp', address: '127.0.0.1', hostPort: 39_181 },
    ])
    await fails(fixture.engine().create(two, wanted), 'busy')
    await fixture.engine().stop(one, 0)
    await drive(fixture, two, wanted)
    assert.equal((await fixture.engine().observe(two)).published.length, 1)
    await fixture.engine().remove(two)
  })

  test('an unpublished port is not published; a free choice is reported', async (fixture) => {
    const group = fixture.group()
    const ports = [
      { port: 80, protocol: 'tcp' },
      { port: 81, protocol: 'tcp', publish: { address: '127.0.0.1' } },
    ] as const
    await drive(fixture, group, spec([part(fixture, 'web')], { ports }))
    const { published } = await fixture.engine().observe(group)
    assert.equal(published.length, 1)
    assert.ok(published[0]?.port === 81 && published[0].hostPort > 0)
  })
}
