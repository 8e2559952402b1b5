/** Makes the engine's task from a mapping and its data set: locations with their credentials, opened now. */

import { createHash } from 'node:crypto'
import type { CopyLocation, CopyTask } from '#engines/copy/engine.ts'
import { isWithin } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { CopySide, ShareDependencies } from '../../dependencies.ts'
import type { DataSetMapping } from '../../resources/data-set-mappings/resource.ts'
import type { DataSet } from '../../resources/data-sets/resource.ts'
import { resolveKind } from '../kinds.ts'
import { usedBy } from '../linked-authorization.ts'
import { shareOf } from '../share-of.ts'
import { type Known, readManifest } from '../store/manifest.ts'
import type { Detail, Run } from '../store/tables.ts'

/** The data set cannot be copied in its current state; the text is for its record. */
export class NotCopied extends Error {}

export interface Planned {
  readonly task: CopyTask
  readonly known: Known
}

export async function taskOf(deps: ShareDependencies, run: Run, detail: Detail): Promise<Planned> {
  const { reader, sql, grants, clock } = deps
  const grant = await grants.grantAt(run.subscriptionKey)
  const isOver = grant !== undefined && grant.expiresAt !== null && grant.expiresAt <= clock.now()
  if (grant?.status !== 'Active' || isOver) {
    throw new NotCopied('The share subscription was revoked, or its time is over.')
  }
  // Keys of these types hold these models.
  const mapping = (await reader.get(detail.mappingKey)) as Resource<DataSetMapping> | undefined
  if (mapping === undefined) throw new NotCopied('The mapping was deleted.')
  const { dataSetKey, dataSetId } = mapping.model
  // A mapping may have waited while the subscription was made anew, of another share.
  const share = await shareOf(reader, grant)
  const isOfShare = share !== undefined && isWithin(dataSetKey, share.id.key)
  const dataSet = (await reader.get(dataSetKey)) as Resource<DataSet> | undefined
  if (!isOfShare || dataSet === undefined || dataSet.model.dataSetId !== dataSetId) {
    throw new NotCopied('The data set was deleted by its provider.')
  }
  const source = await placeOf(deps, dataSet.model, 'source')
  const target = await placeOf(deps, mapping.model, 'target')
  const token = digest(
    `${mapping.id.key}\n${mapping.systemData.createdAt}\n${dataSet.model.dataSetId}`,
  )
  const known = await readManifest(sql, token, { source: source.site, target: target.site })
  const { kind } = target.location
  const isObjects = kind === 'folder' || kind === 'blobs'
  // Without a complete copy there is nothing to add to.
  const isFull = run.mode === 'FullSync' || (isObjects && known.stage === '')
  const column = dataSet.model.properties['watermarkColumn']
  return {
    known,
    task: {
      id: `${run.id}/${detail.place}`,
      source: source.location,
      target: target.location,
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

interface Place {
  readonly location: CopyLocation
  /** The same as long as the same content is meant, whoever signs in there. */
  readonly site: string
}

async function placeOf(
  deps: ShareDependencies,
  { kind, properties, writer }: Pick<DataSet, 'kind' | 'properties' | 'writer'>,
  side: CopySide,
): Promise<Place> {
  const resolved = resolveKind(kind, properties, deps.words)
  if (resolved === undefined) throw new NotCopied(`Nothing copies the kind ${kind}.`)
  // This side may not read the names of the other side's resources.
  const gone = new NotCopied(`The ${side} is no longer registered, or its credentials do not open.`)
  const { id, use } = usedBy(deps.places, side, resolved)
  if (writer === undefined || !(await deps.isAllowed(writer, use, id))) {
    const [what, where] = side === 'source' ? ['data set', 'shared'] : ['mapping', 'written to']
    throw new NotCopied(
      `Whoever wrote the ${what} may not use what is ${where} any more. Somebody who may has to PUT the ${what} again.`,
    )
  }
  if (resolved.kind === 'objects') {
    const store = await deps.places.storage(resolved.account)
    if (store === undefined) throw gone
    const { account, shape, container, path } = resolved
    const at = store.kind === 'blobs' ? [store.endpoint, store.account] : []
    const site = digest(JSON.stringify([account.key, ...at, shape, container, path]))
    return { location: { ...store, shape, container, path }, site }
  }
  const server = await deps.places.sql(resolved.server)
  if (server === undefined) throw gone
  const { database, schema, table } = resolved
  const at = server.kind === 'postgres' ? [server.host.toLowerCase(), server.port] : []
  const site = digest(JSON.stringify([resolved.server.key, ...at, database, schema, table]))
  return { location: { ...server, database, schema, table }, site }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
