import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ContainerEngine, EngineError, type GroupStats } from '#engines/containers/engine.ts'
import { until } from '../../../../../tests/until.ts'
import { base, body, startContainers, web } from '../../testing/start.ts'
import { GroupMetrics } from './metrics.ts'

const path = `${base}/containerGroups/one`
const metricsPath = `${path}/providers/Vendor.Insights/metrics`
const minute = 60_000

/** A group on the simulated engine, which is made to count: one core per second, and 1 KB per second. */
async function counted() {
  let now = 1_800_000_000_000
  let counted = 0
  const clock = {
    now: () => now,
    advance: (seconds: number) => {
      now += seconds * 1000
    },
  }
  const started = await startContainers({ movedClock: clock })
  const { engine } = started
  await started.call('PUT', path, body([web(), web('', 'side')]))
  await started.until('one', (one) => one.properties.provisioningState === 'Succeeded')
  const describe = engine.describe.bind(engine)
  engine.describe = async () => ({ ...(await describe()), measures: true })
  engine.stats = async (): Promise<GroupStats> => {
    counted += 1
    const running = ['web', 'side'].map((name, index) => ({
      name,
      at: now,
      cpuNanoseconds: ((now - 1_800_000_000_000) / (index + 1)) * 1e6,
      memoryBytes: 1000 * (index + 1),
    }))
    return {
      running,
      network: { at: now, receivedBytes: now, transmittedBytes: counted },
    }
  }
  const ask = async (query: string, options: { stranger?: true } = {}) =>
    await started.call('GET', `${metricsPath}?${query}`, undefined, {
      version: '2018-01-01',
      ...options,
    })
  return { started, ask, clock, engine }
}

interface Answer {
  readonly interval: string
  readonly namespace: string
  readonly value: readonly {
    readonly name: { readonly value: string }
    readonly unit: string
    readonly timeseries: readonly {
      readonly metadatavalues: readonly { readonly value: string }[]
      readonly data: readonly Record<string, number | string>[]
    }[]
  }[]
}

test('what is measured of a group is answered over time, whole and by container', async () => {
  const { started, ask, clock } = await counted()
  await using _started = started
  for (let rounds = 0; rounds < 9; rounds++) {
    await started.metrics.measure()
    clock.advance(20)
  }
  const whole = await ask('')
  assert.equal(whole.status, 200)
  // The answer of `metrics`.
  const first = whole.body as unknown as Answer
  assert.deepEqual(
    [first.interval, first.namespace],
    ['PT1M', 'Vendor.ContainerInstance/containerGroups'],
  )
  assert.deepEqual(
    first.value.map(({ name, unit }) => [name.value, unit]),
    [['CpuUsage', 'Count']],
  )
  // The mean of both containers: one core, and half of one.
  assert.deepEqual(
    first.value[0]?.timeseries[0]?.data.map(({ average }) => average),
    [750, 750, 750],
  )
  const byContainer = await ask(
    "metricnames=CpuUsage,memoryusage,NetworkBytesReceivedPerSecond&interval=PT5M&aggregation=Maximum,count&timespan=PT2H&$filter=containerName%20eq%20'*'",
  )
  const all = (byContainer.body as unknown as Answer).value
  assert.deepEqual(
    all.map(({ timeseries }) =>
      timeseries.map(({ metadatavalues, data }) => [
        metadatavalues[0]?.value ?? '',
        data.at(-1)?.['maximum'],
        data.reduce((sum, { count }) => sum + Number(count), 0),
      ]),
    ),
    [
      [
        ['web', 1000, 8],
        ['side', 500, 8],
      ],
      [
        ['web', 1000, 9],
        ['side', 2000, 9],
      ],
      [['', 1000, 8]],
    ],
  )
  const one = await ask("metricnames=MemoryUsage&$filter=containerName eq 'SIDE'")
  assert.equal((one.body as unknown as Answer).value[0]?.timeseries.length, 1)
  await assert.rejects(ask('', { stranger: true }), { status: 403 })
})

test('a metric is answered once, in however many spellings it is named', async () => {
  const { started, ask } = await counted()
  await using _started = started
  await started.metrics.measure()
  const spellings = ['MemoryUsage', 'memoryusage', 'MEMORYUSAGE', 'CpuUsage', 'cpuusage'].join()
  const answer = await ask(`metricnames=${spellings}&aggregation=average,Average,COUNT,count`)
  const { value } = answer.body as unknown as Answer
  assert.deepEqual(
    value.map(({ name }) => name.value),
    ['MemoryUsage', 'CpuUsage'],
  )
})

test('a question that makes no sense is refused by its parameter', async () => {
  const { started, ask } = await counted()
  await using _started = started
  for (const [query, parameter] of [
    ['metricnames=Heat', 'metricnames'],
    ['timespan=yesterday', 'timespan'],
    ['timespan=2026-01-02T00:00:00Z/2026-01-01T00:00:00Z', 'timespan'],
    ['interval=PT7M', 'interval'],
    ['aggregation=median', 'aggregation'],
    ["$filter=colour eq 'red'", '$filter'],
    ["metricnames=NetworkBytesReceivedPerSecond&$filter=containerName eq '*'", '$filter'],
  ]) {
    await assert.rejects(ask(query ?? ''), {
      status: 400,
      message: new RegExp(`parameter '${parameter?.replace('$', '\\$')}'`),
    })
  }
})

test('definitions are of what the engine measures, and there are none of other resources', async () => {
  const { started } = await counted()
  await using _started = started
  const names = async (scope: string): Promise<readonly string[]> => {
    const { body, status } = await started.call(
      'GET',
      `${scope}/providers/Vendor.Insights/metricDefinitions`,
      undefined,
      { version: '2018-01-01' },
    )
    assert.equal(status, 200, JSON.stringify(body))
    // The answer of `metricDefinitions`.
    return (body as { value: { name: { value: string } }[] }).value.map(({ name }) => name.value)
  }
  assert.deepEqual(await names(path), [
    'CpuUsage',
    'MemoryUsage',
    'NetworkBytesReceivedPerSecond',
    'NetworkBytesTransmittedPerSecond',
  ])
  assert.deepEqual(await names(base.slice(0, base.indexOf('/providers'))), [])
  await assert.rejects(names(`${path}-not`), { status: 404 })
})

test('an engine that measures nothing has no metrics', async () => {
  await using started = await startContainers()
  await started.call('PUT', path, body())
  await started.until('one', (one) => one.properties.provisioningState === 'Succeeded')
  await started.metrics.measure()
  const all = await started.call('GET', metricsPath, undefined, { version: '2018-01-01' })
  assert.deepEqual((all.body as unknown as Answer).value, [])
})

test('what is kept is bounded: three hours of a series, and a number of series in sum', async () => {
  const { started, ask, clock, engine } = await counted()
  await using _started = started
  const small = new GroupMetrics(
    { engine, clock, timers: { after: () => ({ cancel() {} }) } },
    { seriesMax: 3 },
  )
  for (let rounds = 0; rounds < 200; rounds++) {
    await started.metrics.measure()
    await small.measure()
    clock.advance(minute / 1000)
  }
  const { value } = (await ask('metricnames=MemoryUsage&timespan=P1D')).body as unknown as Answer
  assert.equal(value[0]?.timeseries[0]?.data.length, 180)
  const group = await started.plane.reader.get(path)
  assert.ok(group !== undefined)
  assert.equal(small.read(group).length, 3)
  assert.ok(small.read(group).every(({ minutes }) => minutes.length <= 180))
  engine.list = (async () => []) satisfies ContainerEngine['list']
  clock.advance(4 * 3600)
  await small.measure()
  assert.deepEqual(small.read(group), [])
})

test('where no series is left, those of what has ended make room, of the group with most of them first', async () => {
  const { started, clock, engine } = await counted()
  await using _started = started
  const metrics = new GroupMetrics(
    { engine, clock, timers: { after: () => ({ cancel() {} }) } },
    { seriesMax: 8 },
  )
  const made = await started.plane.reader.get(path)
  assert.ok(made !== undefined)
  const [held] = await engine.list()
  assert.ok(held !== undefined)
  // Containers of the same group under names that were never there before.
  const stats = engine.stats
  for (let round = 0; round < 9; round++) {
    engine.stats = async (group) => {
      const { running } = await stats(group)
      return { running: running.map((part) => ({ ...part, name: `${part.name}${round}` })) }
    }
    await metrics.measure()
    clock.advance(minute / 1000)
    await metrics.measure()
    clock.advance((3 * minute) / 1000)
  }
  engine.list = async () => [held, { ...held, group: 'later' }]
  engine.stats = stats
  await metrics.measure()
  const names = new Set(metrics.read(made).map(({ of }) => of))
  assert.ok(names.has('web8'), [...names].join())
  assert.ok(names.has('web'), [...names].join())
  assert.equal(metrics.read(made).length <= 8, true)
})

test('a group that holds the engine takes no time of the others', async () => {
  const { started, clock, engine } = await counted()
  await using _started = started
  const [held] = await engine.list()
  assert.ok(held !== undefined)
  engine.list = async () => [{ ...held, group: 'holding' }, held]
  const { stats } = engine
  let waits = 0
  engine.stats = async (group) => {
    if (group !== 'holding') return await stats(group)
    waits += 1
    clock.advance(10)
    throw new EngineError('unavailable', 'the engine does not answer in time')
  }
  const pauses: number[] = []
  const metrics = new GroupMetrics({
    engine,
    clock,
    timers: {
      after(milliseconds, work) {
        pauses.push(milliseconds)
        if (pauses.length < 3) void work()
        return { cancel() {} }
      },
    },
  })
  await using _rounds = metrics.start()
  await until(() => pauses.length === 3)
  assert.deepEqual(new Set(pauses), new Set([15_000]))
  assert.equal(waits, 1)
  clock.advance(600)
  await metrics.measure()
  assert.equal(waits, 2)
  const made = await started.plane.reader.get(path)
  assert.ok(made !== undefined && metrics.read(made).length > 0)
})

test('an engine that is silent for a minute leaves no group without metrics for longer', async () => {
  const { started, clock, engine } = await counted()
  await using _started = started
  const [held] = await engine.list()
  assert.ok(held !== undefined)
  const groups = ['one', 'two', 'three']
  engine.list = async () => groups.map((group) => ({ ...held, group }))
  const { stats } = engine
  const describe = engine.describe.bind(engine)
  const silent = (seconds: number) => {
    clock.advance(seconds)
    throw new EngineError('unavailable', 'the engine does not answer in time')
  }
  let rounds = 0
  /** Silent before a round, within one until its question has ended, and within one until it is back. */
  let silence: 'all' | 'short' | undefined
  let measured: string[] = []
  engine.describe = async () => {
    if (rounds === 0 || silence === 'all') silent(60)
    if (silence === 'short') clock.advance(50)
    silence = undefined
    return await describe()
  }
  engine.stats = async (group) => {
    if (rounds === 1) silence = 'all'
    if (rounds === 3) silence = group === 'two' ? 'short' : undefined
    if (silence !== undefined) silent(10)
    measured.push(group)
    return await stats(group)
  }
  const pauses: number[] = []
  const each: string[][] = []
  const metrics = new GroupMetrics({
    engine,
    clock,
    timers: {
      after(milliseconds, work) {
        pauses.push(milliseconds)
        each.push(measured)
        measured = []
        silence = undefined
        rounds += 1
        if (rounds < 5) void work()
        return { cancel() {} }
      },
    },
  })
  await using _rounds = metrics.start()
  await until(() => pauses.length === 5)
  assert.deepEqual(each, [[], [], groups, ['one', 'three'], groups])
  assert.deepEqual(new Set(pauses), new Set([15_000]))
})
