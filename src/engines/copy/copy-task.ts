/** One task by its connectors. Refuses pairs of places that nothing copies between. */

import { destinationOf } from '#outbound/outbound.ts'
import { copyObjects } from './copy-objects.ts'
import {
  type BlobPlace,
  CopyCancelled,
  CopyFailure,
  type CopyTask,
  type Ledger,
  type ObjectsPlace,
} from './engine.ts'
import { realRoot } from './files/contained.ts'
import { FolderSink } from './files/folder-sink.ts'
import { FolderSource } from './files/folder-source.ts'
import type { ObjectSink, ObjectSource } from './objects.ts'
import { loadOptional } from './optional-package.ts'
import { type RoutedTask, requireRoute } from './routed-task.ts'
import { openTableStage } from './tables/table-stage.ts'

export async function copyTask(
  task: RoutedTask,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<void> {
  const { source, target } = task
  if (task.published) return cleanUp(task)
  if (source.kind === 'postgres' && target.kind === 'postgres') {
    const { copyPostgresToPostgres } = await import('./tables/copy-tables.ts')
    return copyPostgresToPostgres(task, source, target, ledger, signal)
  }
  if (target.kind === 'duckdb' && !isObjects(source)) {
    const { copyToDuckdb } = await import('./tables/copy-duckdb-tables.ts')
    return copyToDuckdb(task, source, target, ledger, signal)
  }
  if (source.kind === 'duckdb' && target.kind === 'postgres') {
    const { copyDuckdbToPostgres } = await import('./tables/copy-duckdb-tables.ts')
    return copyDuckdbToPostgres(task, source, target, ledger, signal)
  }
  if (isObjects(target)) {
    refuseOverlap(source, target)
    await using sink = await sinkOf(target, task)
    try {
      if (!isObjects(source) && target.shape === 'file') {
        const { copyTableToFile } = await import('./tables/table-to-file.ts')
        return await copyTableToFile(task, source, sink, ledger, signal)
      }
      if (isObjects(source) && source.shape === target.shape) {
        await using opened = await sourceOf(source, task)
        return await copyObjects(task, opened, sink, ledger, signal)
      }
    } catch (error) {
      // What was staged is of use only to the same run taken up again, which these two are not.
      const isFinal = error instanceof CopyFailure && error.retry === 'never'
      if (isFinal || error instanceof CopyCancelled) await sink.discard()
      throw error
    }
  }
  throw new CopyFailure(
    'Unsupported',
    `nothing copies from ${source.kind} to ${target.kind} in these shapes`,
  )
}

/** A stage that is made again would be empty, and its publishing the end of what was published. */
async function cleanUp(task: RoutedTask): Promise<void> {
  const { source, target } = task
  if (isObjects(target)) {
    await using sink = await sinkOf(target, task)
    await sink.discard()
  }
  for (const place of [source, target]) {
    if (place.kind === 'duckdb') openTableStage(realRoot(place.root), task).remove()
  }
}

function isObjects(place: CopyTask['source']): place is ObjectsPlace {
  return place.kind === 'folder' || place.kind === 'blobs'
}

const blobPackage = '@azure/storage-blob'

/** Connectors are loaded when they are used: the clients behind them cost more time than a small copy. */
async function sourceOf(place: ObjectsPlace, { outbound }: RoutedTask): Promise<ObjectSource> {
  if (place.kind === 'folder') return new FolderSource(place)
  const { BlobSource } = await loadOptional(blobPackage, () => import('./blobs/blob-source.ts'))
  await requireRoute(outbound, blobDestination(place), `the blob service of '${place.account}'`)
  return new BlobSource(place, outbound)
}

async function sinkOf(place: ObjectsPlace, task: RoutedTask): Promise<ObjectSink> {
  if (place.kind === 'folder') return new FolderSink(place, task)
  const { BlobSink } = await loadOptional(blobPackage, () => import('./blobs/blob-sink.ts'))
  const what = `the blob service of '${place.account}'`
  await requireRoute(task.outbound, blobDestination(place), what)
  return new BlobSink(place, task)
}

function blobDestination({ endpoint }: BlobPlace): ReturnType<typeof destinationOf> {
  const url = URL.parse(endpoint)
  if (url !== null) return destinationOf(url)
  throw new CopyFailure('PathRefused', 'the endpoint of the blob service is no address')
}

/** A copy into itself would never end, or end what it reads. */
function refuseOverlap(source: CopyTask['source'], target: ObjectsPlace): void {
  if (source.kind !== target.kind || source.container !== target.container) return
  const root = (place: ObjectsPlace): string =>
    place.kind === 'folder' ? place.root : `${place.endpoint}|${place.account}`
  if (root(source) !== root(target)) return
  const [left, right] = [`${source.path}/`, `${target.path}/`]
  if (
    left.startsWith(right) ||
    right.startsWith(left) ||
    source.path === '' ||
    target.path === ''
  ) {
    throw new CopyFailure('TargetRefused', 'source and target lie in one another')
  }
}
