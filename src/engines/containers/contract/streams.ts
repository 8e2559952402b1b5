/** Logs, sessions, probes, statistics and events. */

import assert from 'node:assert/strict'
import type { EngineEvent } from '../engine.ts'
import {
  type ContractFixture,
  drive,
  fails,
  isEnded,
  logOf,
  meanwhile,
  part,
  spec,
  until,
} from './fixture.ts'

export function testStreams({ test }: ContractFixture): void {
  test('logs: the tail, the times, the end of the following', async (fixture) => {
    const group = fixture.group()
    const program = { print: 'one line', exitCode: 0, afterSeconds: 1 }
    await drive(fixture, group, spec([part(fixture, 'job', program)]))
    assert.match(
      await meanwhile(fixture, logOf(fixture, group, 'job', { follow: true })),
      /one line/,
    )
    const all = (await logOf(fixture, group, 'job')).split('\n').filter(Boolean)
    const tail = await logOf(fixture, group, 'job', { tail: 1 })
    assert.equal(tail.trimEnd(), all.at(-1))
    assert.match(
      await logOf(fixture, group, 'job', { timestamps: true }),
      /^\d{4}-\d\d-\d\dT\S+ \S/,
    )
    const later = fixture.backend().now() + 3_600_000
    assert.equal(await logOf(fixture, group, 'job', { sinceMs: later }), '')
    await fails(logOf(fixture, group, 'nobody'), 'absent')
  })

  test('following a log ends when it is aborted', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'web', { print: 'up' })]))
    const stop = new AbortController()
    const options = { follow: true, signal: stop.signal }
    for await (const bytes of fixture.engine().logs(group, 'web', options)) {
      if (bytes.length > 0) stop.abort()
    }
  })

  test('exec, attach and probes are of parts that run', async (fixture) => {
    const engine = fixture.engine()
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 0 }), part(fixture, 'web')]))
    await until(fixture, group, isEnded('job'))
    const command = ['true']
    await fails(engine.exec(group, 'job', { command }), 'busy')
    await fails(engine.exec(group, 'nobody', { command }), 'absent')
    await fails(engine.attach(group, 'job'), 'busy')

    const session = await engine.exec(group, 'web', { command: ['echo', 'hello'] })
    await using _ = session
    await fails(session.write(Buffer.from('no input was announced')), 'refused')
    let text = ''
    for await (const { bytes } of session.output) text += Buffer.from(bytes)
    assert.match(text, /hello/)
    assert.equal(await session.exitCode(), 0)

    const probe = { kind: 'exec', command } as const
    assert.equal((await engine.probe(group, 'job', probe, 5)).healthy, false)
    assert.equal((await engine.probe(group, 'web', probe, 5)).healthy, true)
    await fails(engine.probe(group, 'nobody', probe, 5), 'absent')
  })

  test('statistics are of the running parts', async (fixture) => {
    const group = fixture.group()
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 0 }), part(fixture, 'web')]))
    await until(fixture, group, isEnded('job'))
    const stats = await fixture.engine().stats(group)
    assert.deepEqual(
      stats.running.map((each) => each.name),
      ['web'],
    )
    const [web] = stats.running
    assert.ok((web?.memoryBytes ?? 0) > 0 && (web?.at ?? 0) > 0)
    await fails(fixture.engine().stats('nobody'), 'absent')
  })

  test('events begin with ready and report starts and ends', async (fixture) => {
    const group = fixture.group()
    const stop = new AbortController()
    const seen: EngineEvent[] = []
    const { promise: ready, resolve: readied } = Promise.withResolvers<void>()
    const followed = (async () => {
      for await (const event of fixture.engine().events(stop.signal)) {
        seen.push(event)
        if (event.kind === 'ready') readied()
        if (event.kind === 'part' && event.what === 'died' && event.group === group) stop.abort()
      }
    })()
    await ready
    await drive(fixture, group, spec([part(fixture, 'job', { exitCode: 3, afterSeconds: 1 })]))
    await until(fixture, group, isEnded('job'))
    await meanwhile(fixture, followed)
    const mine = seen.filter((event) => event.kind === 'part' && event.group === group)
    const whats = mine.map((event) =>
      event.kind === 'part' && event.part === 'job' ? event.what : '',
    )
    assert.ok(whats.includes('started'), JSON.stringify(seen))
    const died = mine.find((event) => event.kind === 'part' && event.what === 'died')
    assert.ok(died?.kind === 'part')
    assert.equal(died.exitCode, 3)
  })
}
