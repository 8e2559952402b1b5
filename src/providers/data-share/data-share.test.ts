/** Sharing from end to end on a real plane and store: invited, accepted, mapped, copied, reported, and stopped. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { fc, runsOf } from '../../../tests/property.ts'
import { until } from '../../../tests/until.ts'
import { intervals } from './domain/schedules.ts'
import { openRuns } from './domain/store/runs.ts'
import { dueTriggers } from './domain/trigger-store.ts'
import {
  consumer,
  provider,
  share,
  sourceGroup,
  startSharing,
  taken,
  targetGroup,
} from './testing/start.ts'

async function refused(work: Promise<unknown>, status: number, code: string): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.deepEqual([error.status, error.code], [status, code], error.message)
  return error
}

const detailsPath = `${taken}/listSynchronizationDetails`

test('invited, accepted, mapped, synchronized in full and by what changed, and the details of both', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/in/a.txt', 'one')
  started.write('giver', 'data/in/deep/b.txt', 'two!')
  started.write('giver', 'data/single.bin', 'alone')
  const folder = await started.share('folder', 'BlobFolder', {
    containerName: 'data',
    prefix: 'in',
  })
  const file = await started.share('file', 'Blob', {
    containerName: 'data',
    filePath: 'single.bin',
  })
  const sources = await started.call('GET', `${taken}/consumerSourceDataSets`, undefined, consumer)
  assert.deepEqual(
    sources.body.value.map((one: { properties: object }) => one.properties),
    [
      {
        dataSetId: file,
        dataSetLocation: 'here',
        dataSetName: 'file',
        dataSetPath: 'data/single.bin',
        dataSetType: 'Blob',
      },
      {
        dataSetId: folder,
        dataSetLocation: 'here',
        dataSetName: 'folder',
        dataSetPath: 'data/in',
        dataSetType: 'BlobFolder',
      },
    ],
  )
  await refused(started.synchronize(), 409, 'NoDataSetMappings')
  await started.map('m1', 'BlobFolder', { dataSetId: folder, containerName: 'got', prefix: 'all' })
  const mapped = await started.map('m2', 'Blob', {
    dataSetId: file,
    containerName: 'got',
    filePath: 'one/x.bin',
  })
  assert.equal(mapped.body.properties.dataSetMappingStatus, 'Ok')

  const begun = await started.call(
    'POST',
    `${taken}/synchronize`,
    { synchronizationMode: 'FullSync' },
    consumer,
  )
  assert.equal(begun.status, 202)
  assert.deepEqual([begun.body.status, begun.body.synchronizationMode], ['Accepted', 'FullSync'])
  const id = begun.body.synchronizationId
  const link = begun.headers['Vendor-AsyncOperation'] ?? ''
  assert.ok(link.includes(`${taken}/operationResults/${id}?`), link)
  const run = await started.ended(id)
  assert.equal(run.status, 'Succeeded', JSON.stringify(await started.details(id)))
  const operation = await started.call(
    'GET',
    `${taken}/operationResults/${id}`,
    undefined,
    consumer,
  )
  assert.deepEqual(
    [operation.body.status, operation.body.synchronizationId, operation.body.synchronizationMode],
    ['Succeeded', id, 'FullSync'],
  )
  // Published clients compose this address themselves.
  const asPublished = await started.call(
    'GET',
    `${taken}/synchronizationOperationResults/${id}`,
    undefined,
    consumer,
  )
  assert.deepEqual(
    [asPublished.body.status, asPublished.body.endTime],
    ['Succeeded', operation.body.endTime],
  )
  assert.equal(started.read('taker', 'got/all/a.txt'), 'one')
  assert.equal(started.read('taker', 'got/all/deep/b.txt'), 'two!')
  assert.equal(started.read('taker', 'got/one/x.bin'), 'alone')
  const details = await started.details(id)
  assert.deepEqual(Object.keys(details[0]).sort(), [
    'dataSetId',
    'dataSetType',
    'durationMs',
    'endTime',
    'filesRead',
    'filesWritten',
    'name',
    'rowsCopied',
    'rowsRead',
    'sizeRead',
    'sizeWritten',
    'startTime',
    'status',
    'vCore',
  ])
  const brief = (list: Record<string, unknown>[]) =>
    list.map((one) => [
      one['name'],
      one['dataSetId'],
      one['status'],
      one['filesRead'],
      one['filesWritten'],
      one['sizeRead'],
      one['sizeWritten'],
      one['vCore'],
    ])
  assert.deepEqual(brief(details), [
    ['folder', folder, 'Succeeded', 2, 2, 7, 7, 1],
    ['file', file, 'Succeeded', 1, 1, 5, 5, 1],
  ])
  started.write('giver', 'data/in/a.txt', 'changed')
  const second = await started.synchronize('Incremental')
  await started.ended(second)
  assert.deepEqual(brief(await started.details(second)), [
    ['folder', folder, 'Succeeded', 1, 1, 7, 7, 1],
    ['file', file, 'Succeeded', 0, 0, 0, 0, 1],
  ])
  assert.equal(started.read('taker', 'got/all/a.txt'), 'changed')
  const theirs = await started.call('POST', `${share}/listSynchronizations`)
  assert.deepEqual(
    theirs.body.value.map((one: Record<string, unknown>) => [
      one['synchronizationId'],
      one['consumerName'],
    ]),
    [
      [second, consumer.displayName],
      [id, consumer.displayName],
    ],
  )
  const provided = await started.call('POST', `${share}/listSynchronizationDetails`, {
    synchronizationId: id,
  })
  assert.deepEqual(provided.body.value, details)
})

test('filters, orders and pages of details; continuing a POST; nothing makes them fail', async () => {
  await using started = await startSharing()
  await started.prepare()
  const runs = openRuns(started.store.sql, { now: () => Date.now() })
  const id = '00000000-0000-4000-8000-0000000000aa'
  await runs.begin({
    id,
    subscriptionKey: taken.toLowerCase(),
    shareKey: share.toLowerCase(),
    mode: 'FullSync',
  })
  // Claimed, so that the runner leaves it alone.
  const [run] = await runs.claim('test', 1, { ofGroupMax: 1, sharedMax: 1, ofGroupsMax: 1 })
  assert.ok(run !== undefined)
  const names = Array.from({ length: 25 }, (_, at) => `set-${String(at + 1).padStart(2, '0')}`)
  await runs.plan(
    run,
    names.map((name, at) => ({
      place: at + 1,
      mappingKey: `/m/${name}`,
      dataSetKey: `/d/${name}`,
      dataSetId: `id-${at}`,
      dataSetType: at % 2 === 0 ? 'Blob' : 'SqlDBTable',
      name,
    })),
    true,
  )
  for (const place of [3, 7]) {
    await runs.beginDetail(run, place)
    await runs.endDetail(run, place, 'Failed', `broken at ${place}`)
  }
  const ask = async (query: string) => {
    const all: Record<string, unknown>[] = []
    for (let token: string | undefined, pages = 0; pages < 50; pages++) {
      const more: string = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
      const page = await started.call(
        'POST',
        `${detailsPath}?${query}${more}`,
        { synchronizationId: id },
        consumer,
      )
      assert.equal(page.status, 200)
      all.push(...page.body.value)
      token = page.nextToken
      if (token === undefined) return all.map((one) => one['name'])
    }
    throw new Error('pages without an end')
  }
  assert.deepEqual(await ask(''), names)
  assert.deepEqual(await ask('$top=7'), names)
  assert.deepEqual(await ask('$top=5'), names)
  assert.deepEqual(await ask('$top=4&$orderby=name%20desc'), [...names].reverse())
  assert.deepEqual(await ask("$filter=status eq 'Failed'&$top=1"), ['set-03', 'set-07'])
  assert.deepEqual(await ask("$filter=name eq 'SET-05' or contains(message,'at 7')"), [
    'set-05',
    'set-07',
  ])
  assert.deepEqual((await ask("$filter=dataSetType eq 'Blob' and filesRead eq 0")).length, 13)
  assert.deepEqual((await ask('$orderby=message desc,name&$top=10')).slice(0, 2), [
    'set-07',
    'set-03',
  ])
  assert.equal((await ask('$filter=durationMs ge 0 and startTime gt 2020-01-01')).length, 2)
  for (const query of [
    '$filter=nothing eq 1',
    "$filter=status eq 'x",
    '$orderby=nothing',
    '$orderby=name sideways',
    '$filter=name',
  ]) {
    await refused(ask(query), 400, 'InvalidFilter')
  }
  await refused(ask('$skipToken=made-up'), 400, 'InvalidContinuationToken')
  await refused(ask('$top=none'), 400, 'InvalidQueryParameter')
  const unknown = started.call('POST', detailsPath, { synchronizationId: 'none' }, consumer)
  await refused(unknown, 404, 'SynchronizationNotFound')
  for (const body of [undefined, {}, { synchronizationId: 7 }, []]) {
    const error = await started
      .call('POST', detailsPath, body, consumer)
      .catch((reason: unknown) => reason)
    assert.ok(error instanceof ApiError && error.status === 400, String(error))
  }
  const fields = fc.constantFrom(
    'name',
    'status',
    'dataSetType',
    'filesRead',
    'startTime',
    'vCore',
    'bad',
  )
  const piece = fc.oneof(
    fields,
    fc.constantFrom('eq', 'ne', 'and', 'or', 'not', '(', ')', 'desc', ',', "'x'", '1', 'null'),
    fc.string(),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 8 }),
      fc.constantFrom('$filter', '$orderby'),
      async (parts, name) => {
        const error = await ask(`${name}=${encodeURIComponent(parts.join(' '))}`).catch(
          (reason: unknown) => reason,
        )
        assert.ok(
          Array.isArray(error) || (error instanceof ApiError && error.status === 400),
          String(error),
        )
      },
    ),
    { numRuns: runsOf(300) },
  )
})

test('invitations: only for whom they are; accepted once, rejected, withdrawn, expired', async () => {
  await using started = await startSharing()
  await started.prepare()
  const listed = async (as = consumer) =>
    (
      await started.call('GET', '/providers/Vendor.DataShare/listInvitations', undefined, as)
    ).body.value.map((one: { name: string }) => one.name)
  assert.deepEqual(await listed(), [], 'accepted')
  const invited = await started.call('GET', `${share}/invitations/i`)
  assert.equal(invited.body.properties.invitationStatus, 'Accepted')
  const invite = async (name: string, properties: object) => {
    const { body } = await started.call('PUT', `${share}/invitations/${name}`, { properties })
    await started.settle()
    return body.properties.invitationId as string
  }
  const accept = (invitationId: string, name = 'other', as = consumer) =>
    started.call(
      'PUT',
      taken.replace(/ss$/, name),
      { properties: { invitationId, sourceShareLocation: 'here' } },
      as,
    )
  const byName = await invite('by-name', { targetEmail: 'Consumer@example.net' })
  assert.deepEqual(await listed(), ['by-name'])
  assert.deepEqual(await listed(provider), [])
  assert.deepEqual(
    await listed({ ...consumer, tenantId: 'elsewhere' }),
    [],
    'a name is vouched for by its tenant',
  )
  await refused(accept(byName, 'x', provider), 404, 'InvitationNotFound')
  const reject = '/providers/Vendor.DataShare/locations/here/rejectInvitation'
  await refused(
    started.call('POST', reject, { properties: { invitationId: byName } }, provider),
    404,
    'InvitationNotFound',
  )
  const one = `/providers/Vendor.DataShare/locations/here/consumerInvitations/${byName}`
  assert.equal((await started.call('GET', one, undefined, consumer)).body.properties.shareName, 's')
  await refused(started.call('GET', one, undefined, provider), 404, 'ResourceNotFound')
  await started.call('POST', reject, { properties: { invitationId: byName } }, consumer)
  const answered = async () =>
    (await started.call('GET', `${share}/invitations/by-name`)).body.properties.invitationStatus
  for (let looks = 0; looks < 500 && (await answered()) === 'Pending'; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.equal(await answered(), 'Rejected')
  await refused(accept(byName), 409, 'InvitationNotPending')
  const withdrawn = await invite('gone', { targetEmail: 'consumer@example.net' })
  await started.call('DELETE', `${share}/invitations/gone`)
  await started.settle()
  await refused(accept(withdrawn), 404, 'InvitationNotFound')
  const late = await invite('late', {
    targetEmail: 'consumer@example.net',
    expirationDate: '2020-01-01T00:00:00Z',
  })
  await refused(accept(late), 409, 'InvitationNotPending')
  const both = { targetEmail: 'a@b.c', targetObjectId: consumer.id }
  await refused(invite('both', both), 400, 'InvalidRequestContent')
})

test('an invitation is answered once, and whoever comes later is refused', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  await using started = await startSharing({
    async onFind() {
      const work = meanwhile
      meanwhile = undefined
      await work?.()
    },
  })
  await started.prepare()
  const invite = async (name: string) => {
    const properties = { targetEmail: 'consumer@example.net' }
    const made = await started.call('PUT', `${share}/invitations/${name}`, { properties })
    return made.body.properties.invitationId as string
  }
  const accept = (invitationId: string, name: string) => {
    const properties = { invitationId, sourceShareLocation: 'here' }
    return started.call('PUT', taken.replace(/ss$/, name), { properties }, consumer)
  }
  const id = await invite('raced')
  const locations = '/providers/Vendor.DataShare/locations/here'
  const seen = await started.call(
    'GET',
    `${locations}/consumerInvitations/${id}`,
    undefined,
    consumer,
  )
  assert.equal(seen.body.properties.invitationStatus, 'Pending', 'seen as soon as it is made')
  meanwhile = () => accept(id, 'first')
  await refused(
    started.call(
      'POST',
      `${locations}/rejectInvitation`,
      { properties: { invitationId: id } },
      consumer,
    ),
    409,
    'InvitationNotPending',
  )
  const other = await invite('raced-again')
  meanwhile = () => accept(other, 'second')
  const loser = await accept(other, 'third')
  assert.equal(loser.status, 201)
  assert.deepEqual(
    [loser.body.properties.provisioningState, loser.body.properties.shareSubscriptionStatus],
    ['Failed', 'Revoked'],
  )
  for (const name of ['first', 'second']) {
    const { body } = await started.call('GET', taken.replace(/ss$/, name), undefined, consumer)
    assert.equal(body.properties.provisioningState, 'Succeeded')
    assert.equal(body.properties.shareSubscriptionStatus, 'Active')
  }
})

test('revoked, nothing starts; reinstated, it does; a share that is gone is reported', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/a', 'one')
  const dataSetId = await started.share('f', 'Container', { containerName: 'data' })
  await started.map('m', 'Container', { dataSetId, containerName: 'got' })
  const { body } = await started.call('GET', `${share}/providerShareSubscriptions`)
  const view = `${share}/providerShareSubscriptions/${body.value[0].name}`
  const status = async () =>
    (await started.call('GET', taken, undefined, consumer)).body.properties.shareSubscriptionStatus
  const until = async (wanted: string) => {
    for (let looks = 0; looks < 500 && (await status()) !== wanted; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.equal(await status(), wanted)
  }
  const revoked = await started.call('POST', `${view}/revoke`)
  assert.equal(revoked.body.properties.shareSubscriptionStatus, 'Revoked')
  await until('Revoked')
  await refused(started.synchronize(), 409, 'ShareSubscriptionNotActive')
  await started.call('POST', `${view}/reinstate`)
  await until('Active')
  assert.equal((await started.ended(await started.synchronize())).status, 'Succeeded')
  await started.call('DELETE', `${share}/dataSets/f`)
  const failed = await started.synchronize()
  assert.equal((await started.ended(failed)).status, 'Failed')
  assert.match((await started.details(failed))[0].message, /deleted by its provider/)
  await started.call('DELETE', share)
  await until('SourceDeleted')
  await refused(started.synchronize(), 409, 'ShareSubscriptionNotActive')
  assert.equal((await started.call('DELETE', taken, undefined, consumer)).status, 202)
  const isThere = () =>
    started.call('GET', taken, undefined, consumer).then(
      () => true,
      () => false,
    )
  for (let looks = 0; looks < 500 && (await isThere()); looks++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await refused(started.call('GET', taken, undefined, consumer), 404, 'ResourceNotFound')
  for (const table of ['share_grants', 'share_runs', 'share_details', 'share_active']) {
    assert.deepEqual(await started.store.sql.all(`select * from ${table}`), [], table)
  }
})

test('one data set fails alone; one run at a time; cancelled within seconds, with what was there before', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/good/a.txt', 'one')
  const good = await started.share('good', 'BlobFolder', { containerName: 'data', prefix: 'good' })
  const bad = await started.share('bad', 'BlobFolder', { containerName: 'data', prefix: 'missing' })
  await started.map('a-bad', 'BlobFolder', { dataSetId: bad, containerName: 'got', prefix: 'bad' })
  await started.map('b-good', 'BlobFolder', {
    dataSetId: good,
    containerName: 'got',
    prefix: 'good',
  })
  const id = await started.synchronize()
  const run = await started.ended(id)
  assert.deepEqual(
    [run.status, run.message],
    ['Failed', '1 of 2 data sets failed; the details say why.'],
  )
  assert.deepEqual(
    (await started.details(id)).map((one) => one.status),
    ['Failed', 'Succeeded'],
  )
  assert.equal(started.read('taker', 'got/good/a.txt'), 'one')

  started.write('giver', 'data/good/a.txt', 'two')
  // It takes longer than the requests below. What was publishing before it is cancelled stays.
  started.write('giver', 'data/good/big.bin', '')
  truncateSync(join(started.root, 'giver/data/good/big.bin'), 1.5 * 2 ** 30)
  const long = await started.synchronize()
  await refused(started.synchronize(), 409, 'SynchronizationInProgress')
  const cancel = await started.call(
    'POST',
    `${taken}/cancelSynchronization`,
    { synchronizationId: long },
    consumer,
  )
  assert.deepEqual([cancel.status, cancel.body.status], [202, 'Queued'])
  assert.equal((await started.ended(long)).status, 'Cancelled')
  assert.equal(started.read('taker', 'got/good/a.txt'), 'one', 'as it was')
  assert.ok(!existsSync(join(started.root, 'taker/got/good/big.bin')))
  const unfinished = readdirSync(join(started.root, 'taker/.armature'))
  assert.deepEqual(unfinished, [], 'nothing unfinished is left')
  const again = await started.call(
    'POST',
    `${taken}/cancelSynchronization`,
    { synchronizationId: long },
    consumer,
  )
  assert.deepEqual([again.status, again.body.status], [200, 'Cancelled'])
})

test('who may not use a place neither shares it nor maps to it; places of others are not overwritten', async () => {
  let mayUse = true
  await using started = await startSharing({
    allows: ({ action }) => mayUse || !action.endsWith('listKeys/action'),
  })
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('f', 'Container', { containerName: 'data' })
  mayUse = false
  const denied = started.share('g', 'Container', { containerName: 'data' })
  await refused(denied, 403, 'LinkedAuthorizationFailed')
  const target = { dataSetId, containerName: 'got' }
  await refused(started.map('m', 'Container', target), 403, 'LinkedAuthorizationFailed')
  mayUse = true
  await started.map('m', 'Container', target)
  const nested = { dataSetId, containerName: 'got', prefix: 'in' }
  await refused(started.map('n', 'BlobFolder', nested), 409, 'DataSetMappingConflict')
  started.write('taker', 'got/theirs.txt', 'mine')
  const id = await started.synchronize()
  assert.equal((await started.ended(id)).status, 'Failed')
  assert.match((await started.details(id))[0].message, /TargetNotEmpty/)
  assert.equal(started.read('taker', 'got/theirs.txt'), 'mine')
  for (const prefix of ['../up', 'a//b', './a', 'a\\b']) {
    await refused(
      started.share('p', 'BlobFolder', { containerName: 'data', prefix }),
      400,
      'InvalidRequestContent',
    )
  }
  mkdirSync(join(started.root, 'giver/linked'), { recursive: true })
  symlinkSync('/etc', join(started.root, 'giver/linked/etc'))
  const linked = await started.share('l', 'BlobFolder', { containerName: 'linked', prefix: 'etc' })
  await started.map('l', 'BlobFolder', { dataSetId: linked, containerName: 'other', prefix: 'etc' })
  const through = await started.synchronize()
  await started.ended(through)
  assert.match((await started.details(through))[0].message, /links are not followed/)
  assert.ok(!existsSync(join(started.root, 'taker/other/etc')))
})

const fileKinds = [
  [
    'Blob',
    { containerName: 'data', filePath: 'in/a.txt' },
    'Blob',
    { containerName: 'to-blob', filePath: 'a.txt' },
    'to-blob/a.txt',
  ],
  [
    'AdlsGen2File',
    { fileSystem: 'data', filePath: 'in/a.txt' },
    'AdlsGen2File',
    { fileSystem: 'to-gen2', filePath: 'x/a.txt' },
    'to-gen2/x/a.txt',
  ],
  [
    'AdlsGen1File',
    { folderPath: 'in', fileName: 'a.txt' },
    'AdlsGen2File',
    { fileSystem: 'to-g1f', filePath: 'a.txt' },
    'to-g1f/a.txt',
  ],
  [
    'Container',
    { containerName: 'data' },
    'Container',
    { containerName: 'to-container' },
    'to-container/in/a.txt',
  ],
  [
    'BlobFolder',
    { containerName: 'data', prefix: 'in' },
    'BlobFolder',
    { containerName: 'to-folder', prefix: 'p' },
    'to-folder/p/a.txt',
  ],
  [
    'AdlsGen2FileSystem',
    { fileSystem: 'data' },
    'AdlsGen2FileSystem',
    { fileSystem: 'to-fs' },
    'to-fs/in/a.txt',
  ],
  [
    'AdlsGen2Folder',
    { fileSystem: 'data', folderPath: '/in/' },
    'AdlsGen2Folder',
    { fileSystem: 'to-f2', folderPath: 'p' },
    'to-f2/p/a.txt',
  ],
  [
    'AdlsGen1Folder',
    { folderPath: 'in' },
    'AdlsGen2Folder',
    { fileSystem: 'to-g1', folderPath: 'p' },
    'to-g1/p/a.txt',
  ],
] as const

test('a synchronization copies only what the writers of data set and mapping may use now', async () => {
  const lost = new Set<string>()
  const uses = new Set<string>()
  await using started = await startSharing({
    allows({ principal, action, dataActions = [], scope }) {
      if (!action.endsWith('listKeys/action')) return true
      const account = scope.key.split('/').at(-1)
      uses.add(`${account} ${dataActions.map((one) => one.split('/').at(-1))}`)
      return !(lost.has(principal.id) || lost.has(`${principal.id} ${account}`))
    },
  })
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('f', 'Container', { containerName: 'data' })
  await started.map('m', 'Container', { dataSetId, containerName: 'got' })
  assert.equal((await started.ended(await started.synchronize())).status, 'Succeeded')
  // What is shared is read; what is mapped is also written over.
  assert.deepEqual([...uses], ['giver read', 'taker read,write,delete'])
  started.write('giver', 'data/a.txt', 'a later secret')
  lost.add(`${provider.id} giver`)
  const id = await started.synchronize()
  assert.equal((await started.ended(id)).status, 'Failed')
  assert.match((await started.details(id))[0].message, /wrote the data set may not use/)
  assert.equal(started.read('taker', 'got/a.txt'), 'one')
  lost.clear()
  lost.add(`${consumer.id} taker`)
  await refused(started.synchronize(), 403, 'LinkedAuthorizationFailed')
  lost.clear()
  assert.equal((await started.ended(await started.synchronize())).status, 'Succeeded')
  assert.equal(started.read('taker', 'got/a.txt'), 'a later secret')
})

test('every kind of files and folders copies; kinds that nothing copies are refused when they are mapped', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/in/a.txt', 'copied')
  started.write('giver', 'root/in/a.txt', 'copied')
  for (const [kind, properties, mapped, target] of fileKinds) {
    const dataSetId = await started.share(kind, kind, properties)
    await started.map(kind, mapped, { dataSetId, ...target })
  }
  const id = await started.synchronize()
  const run = await started.ended(id)
  assert.equal(run.status, 'Succeeded', JSON.stringify(await started.details(id)))
  for (const [kind, , , , path] of fileKinds)
    assert.equal(started.read('taker', path), 'copied', kind)
  const { subscriptionId } = { subscriptionId: targetGroup.split('/')[2] }
  const kusto = `/subscriptions/${subscriptionId}/resourceGroups/to/providers/Vendor.Kusto/clusters/c`
  for (const [kind, properties] of [
    ['KustoCluster', { kustoClusterResourceId: kusto }],
    ['KustoDatabase', { kustoDatabaseResourceId: `${kusto}/databases/d` }],
    [
      'KustoTable',
      {
        kustoDatabaseResourceId: `${kusto}/databases/d`,
        tableLevelSharingProperties: { tablesToInclude: ['t'] },
      },
    ],
  ] as const) {
    const dataSetId = await started.share(kind, kind, properties)
    const same = started.map(kind, kind, { dataSetId, kustoClusterResourceId: kusto })
    await refused(same, 400, 'DataSetKindNotSupported')
    const other = started.map(kind, 'Container', { dataSetId, containerName: 'kusto' })
    const error = await refused(other, 400, 'DataSetKindNotSupported')
    assert.match(error.message, /shared in place/)
  }
  const gen1 = await started.share('again', 'AdlsGen1Folder', { folderPath: 'in' })
  const back = started.map('back', 'AdlsGen1Folder', {
    dataSetId: gen1,
    accountName: 'taker',
    folderPath: 'in',
  })
  await refused(back, 400, 'DataSetKindNotSupported')
  const shape = started.map('shape', 'Blob', {
    dataSetId: gen1,
    containerName: 'shape',
    filePath: 'x',
  })
  await refused(shape, 400, 'DataSetKindNotSupported')
})

test('triggers begin runs when the installation’s clock says so, and only where the provider allows', async () => {
  let now = Date.parse('2026-11-21T10:30:00Z')
  const real = Date.now()
  await using started = await startSharing({ clock: { now: () => now + Date.now() - real } })
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('f', 'Container', { containerName: 'data' })
  await started.map('m', 'Container', { dataSetId, containerName: 'got' })
  const properties = { recurrenceInterval: 'Hour', synchronizationTime: '2026-11-21T00:15:00Z' }
  const schedule = { kind: 'ScheduleBased', properties }
  const trigger = async () => {
    await started.call(
      'PUT',
      `${taken}/triggers/t`,
      { ...schedule, properties: { ...properties, synchronizationMode: 'FullSync' } },
      consumer,
    )
    await started.settle()
    return (await started.call('GET', `${taken}/triggers/t`, undefined, consumer)).body.properties
      .triggerStatus
  }
  assert.equal(await trigger(), 'SourceSynchronizationSettingDeleted')
  await started.call('PUT', `${share}/synchronizationSettings/hourly`, schedule)
  await started.call('DELETE', `${taken}/triggers/t`, undefined, consumer)
  await started.settle()
  assert.equal(await trigger(), 'Active')
  const settings = await started.call(
    'POST',
    `${taken}/listSourceShareSynchronizationSettings`,
    undefined,
    consumer,
  )
  assert.equal(settings.body.value[0].properties.recurrenceInterval, 'Hour')
  const runs = async (): Promise<{ synchronizationId: string }[]> =>
    (await started.call('POST', `${taken}/listSynchronizations`, undefined, consumer)).body.value
  assert.deepEqual(await runs(), [])
  now += 50 * 60_000
  for (let looks = 0; looks < 500 && (await runs()).length === 0; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const [run] = await runs()
  assert.equal((await started.ended(run?.synchronizationId ?? '')).status, 'Succeeded')
  assert.equal((await runs()).length, 1)
  await started.call('DELETE', `${share}/synchronizationSettings/hourly`)
  await started.settle()
  now += intervals.Hour
  await until(async () => (await dueTriggers(started.store.sql, now, 9)).length === 0)
  assert.equal((await runs()).length, 1, 'the provider deleted the schedule')
  await started.call('PUT', `${share}/synchronizationSettings/hourly`, schedule)
  await started.settle()
  now += intervals.Hour
  await until(async () => (await runs()).length === 2)
})

test('an account has an identity in the directory, the same as long as it is there', async () => {
  await using started = await startSharing()
  const path = `${sourceGroup}/providers/Vendor.DataShare/accounts/own`
  const put = () =>
    started.call('PUT', path, { location: 'here', identity: { type: 'systemassigned' } })
  const made = (await put()).body
  await started.settle()
  assert.match(made.identity.principalId, /^[0-9a-f]{8}-/)
  assert.equal(made.identity.tenantId, provider.tenantId)
  assert.equal(made.properties.userEmail, provider.displayName)
  assert.deepEqual((await put()).body.identity, made.identity)
  assert.equal(await started.workloads.of(path.toLowerCase()), made.identity.principalId)
  await started.call('DELETE', path)
  await started.settle()
  assert.equal(await started.workloads.of(path.toLowerCase()), undefined)
  assert.notEqual((await put()).body.identity.principalId, made.identity.principalId)
})
