/** Runs one task with its connectors. Refuses pairs of locations without one. */

import { destinationOf } from '#outbound/outbound.ts'
import { copyObjects } from './copy-objects.ts'
import {
  type BlobLocation,
  CopyCancelled,
  CopyFailure,
  type CopyJournal,
  type CopyTask,
  type ObjectsLocation,
  toBeContinued,
} from './engine.ts'
import { FolderSink } from './files/folder-sink.ts'
import { FolderSource } from './files/folder-source.ts'
import type { ObjectSink, ObjectSource } from './objects.ts'
import { loadOptional } from './optional-package.ts'
import { type RoutedTask, requireRoute } from './routed-task.ts'
import { openTableStage } from './tables/table-stage.ts'

export async function copyTask(
  task: RoutedTask,
  journal: CopyJournal,
  signal: AbortSignal,
): Promise<void> {
  const { source, target } = task
  if (task.published) return cleanUp(task)
  if (source.kind === 'postgres' && target.kind === 'postgres') {
    const { copyPostgresToPostgres } = await import('./tables/copy-tables.ts')
    return copyPostgresToPostgres(task, source, target, { journal, signal })
  }
  if (target.kind === 'duckdb' && !isObjects(source)) {
    const { copyToDuckdb } = await import('./tables/copy-duckdb-tables.ts')
    return copyToDuckdb(task, source, target, { journal, signal })
  }
  if (source.kind === 'duckdb' && target.kind === 'postgres') {
    const { copyDuckdbToPostgres } = await import('./tables/copy-duckdb-tables.ts')
    return copyDuckdbToPostgres(task, source, target, { journal, signal })
  }
  if (isObjects(target)) {
    refuseOverlap(source, target)
    await using sink = await sinkOf(target, task)
    try {
      if (!isObjects(source) && target.shape === 'file') {
        const { copyTableToFile } = await import('./tables/table-to-file.ts')
        return await copyTableToFile(task, source, sink, { journal, signal })
      }
      if (isObjects(source) && source.shape === target.shape) {
        await using opened = await sourceOf(source, task)
        return await copyObjects(task, opened, sink, { journal, signal })
      }
    } catch (error) {
      // A stage is useful only to the same run when it continues, and these end the run.
      const isFinal = error instanceof CopyFailure && error.retry === 'never'
      const isCancelled = error instanceof CopyCancelled && signal.reason !== toBeContinued
      if (isFinal || isCancelled) await sink.discard()
      throw error
    }
  }
  throw new CopyFailure(
    'Unsupported',
    `nothing copies from ${source.kind} to ${target.kind} in these shapes`,
  )
}

/** A recreated stage would be empty, and publishing it would remove what was published. */
async function cleanUp(task: RoutedTask): Promise<void> {
  const { source, target } = task
  if (isObjects(target)) {
    await using sink = await sinkOf(target, task)
    await sink.discard()
  }
  for (const location of [source, target]) {
    if (location.kind === 'duckdb') openTableStage(location.root, task).remove()
  }
}

function isObjects(location: CopyTask['source']): location is ObjectsLocation {
  return location.kind === 'folder' || location.kind === 'blobs'
}

const blobPackage = '@azure/storage-blob'

/** Connectors are loaded on demand: loading the clients behind them takes longer than a small copy. */
async function sourceOf(
  location: ObjectsLocation,
  { outbound }: RoutedTask,
): Promise<ObjectSource> {
  if (location.kind === 'folder') return new FolderSource(location)
  const { BlobSource } = await loadOptional(blobPackage, () => import('./blobs/blob-source.ts'))
  await requireRoute(
    outbound,
    blobDestination(location),
    `the blob service of '${location.account}'`,
  )
  return new BlobSource(location, outbound)
}

async function sinkOf(location: ObjectsLocation, task: RoutedTask): Promise<ObjectSink> {
  if (location.kind === 'folder') return new FolderSink(location, task)
  const { BlobSink } = await loadOptional(blobPackage, () => import('./blobs/blob-sink.ts'))
  const what = `the blob service of '${location.account}'`
  await requireRoute(task.outbound, blobDestination(location), what)
  return new BlobSink(location, task)
}

function blobDestination({ endpoint }: BlobLocation): ReturnType<typeof destinationOf> {
  const url = URL.parse(endpoint)
  if (url !== null) return destinationOf(url)
  throw new CopyFailure('PathRefused', 'the endpoint of the blob service is no address')
}

/** A copy into itself would never end, or destroy what it reads. */
function refuseOverlap(source: CopyTask['source'], target: ObjectsLocation): void {
  if (source.kind !== target.kind || source.container !== target.container) return
  const root = (location: ObjectsLocation): string =>
    location.kind === 'folder' ? location.root : `${location.endpoint}|${location.account}`
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
