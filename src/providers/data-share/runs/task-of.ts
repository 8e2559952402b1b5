/** From a mapping and its data set to the engine's task: places with their credentials, opened for this moment. */

import { createHash } from 'node:crypto'
import type { CopyTask, Place } from '#engines/copy/engine.ts'
import type { Resource } from '#plane/define.ts'
import type { DataSetMapping } from '../data-set-mappings/resource.ts'
import type { DataSet } from '../data-sets/resource.ts'
import { type Kind, type KindProperties, resolveKind } from '../kinds.ts'
import { type Known, readManifest } from '../ledger/manifest.ts'
import type { Detail, Run } from '../ledger/runs.ts'
import type { ShareParts } from '../share-parts.ts'

/** The data set cannot be copied as things are; the text is for its record. */
export class NotCopied extends Error {}

export interface Planned {
  readonly task: CopyTask
  readonly known: Known
}

export async function taskOf(parts: ShareParts, run: Run, detail: Detail): Promise<Planned> {
  const { reader, sql } = parts
  // Keys of these types hold these models.
  const mapping = (await reader.get(detail.mappingKey)) as Resource<DataSetMapping> | undefined
  if (mapping === undefined) throw new NotCopied('The mapping was deleted.')
  const dataSet = (await reader.get(mapping.model.dataSetKey)) as Resource<DataSet> | undefined
  if (dataSet === undefined || dataSet.model.dataSetId !== mapping.model.dataSetId) {
    throw new NotCopied('The data set was deleted by its provider.')
  }
  const source = await placeOf(parts, dataSet.model.kind, dataSet.model.properties, 'source')
  const target = await placeOf(parts, mapping.model.kind, mapping.model.properties, 'target')
  const token = digest(
    `${mapping.id.key}\n${mapping.systemData.createdAt}\n${dataSet.model.dataSetId}`,
  )
  const known = await readManifest(sql, token)
  const isObjects = target.kind === 'folder' || target.kind === 'blobs'
  // Where no whole copy is in force there is nothing to add to.
  const isFull = run.mode === 'FullSync' || (isObjects && known.stage === '')
  const column = dataSet.model.properties['watermarkColumn']
  return {
    known,
    task: {
      id: `${run.id}/${detail.place}`,
      source,
      target,
      mode: isFull ? 'full' : 'incremental',
      token,
      run: run.id.replaceAll('-', ''),
      owned: known.owned,
      published: detail.published,
      ...(mapping.model.outputType === undefined ? {} : { format: mapping.model.outputType }),
      ...(known.watermark === null ? {} : { watermark: known.watermark }),
      ...(typeof column === 'string' ? { watermarkColumn: column } : {}),
    },
  }
}

async function placeOf(
  parts: ShareParts,
  kind: Kind,
  properties: KindProperties,
  side: 'source' | 'target',
): Promise<Place> {
  const resolved = resolveKind(kind, properties, parts.words)
  if (resolved === undefined) throw new NotCopied(`Nothing copies the kind ${kind}.`)
  // What the other side's resources are called is not for this side to read.
  const gone = new NotCopied(`The ${side} is no longer registered, or its credentials do not open.`)
  if (resolved.kind === 'objects') {
    const store = await parts.places.storage(resolved.account)
    if (store === undefined) throw gone
    const { shape, container, path } = resolved
    return { ...store, shape, container, path }
  }
  const server = await parts.places.sql(resolved.server)
  if (server === undefined) throw gone
  const { database, schema, table } = resolved
  return { ...server, database, schema, table }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
