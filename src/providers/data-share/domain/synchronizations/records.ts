/** Runs and details on the wire (contract, data-share synchronization), and what a filter may ask of them. */

import Type from 'typebox'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { isoTime } from '../../dependencies.ts'
import { kindNames } from '../kinds.ts'
import type { Detail, Run } from '../store/tables.ts'

const int32Max = 2_147_483_647
const vcoreMilliseconds = 60_000

export function durationOf(
  record: { readonly startedAt: number | null; readonly endedAt: number | null },
  now: number,
): number | null {
  if (record.startedAt === null) return null
  return Math.min(int32Max, Math.max(0, (record.endedAt ?? now) - record.startedAt))
}

/** One unit for every started minute (decision 0025). */
export function vCoreOf(detail: Detail, now: number): number {
  const duration = durationOf(detail, now)
  return duration === null ? 0 : Math.max(1, Math.ceil(duration / vcoreMilliseconds))
}

export function detailToWire(detail: Detail, now: number): object {
  const { startedAt, endedAt, message } = detail
  return {
    dataSetId: detail.dataSetId,
    dataSetType: detail.dataSetType,
    name: detail.name,
    status: detail.status,
    ...(message === null ? {} : { message }),
    ...(startedAt === null ? {} : { startTime: isoTime(startedAt) }),
    ...(endedAt === null ? {} : { endTime: isoTime(endedAt) }),
    durationMs: durationOf(detail, now) ?? 0,
    filesRead: detail.filesRead,
    filesWritten: detail.filesWritten,
    rowsRead: detail.rowsRead,
    rowsCopied: detail.rowsCopied,
    sizeRead: detail.sizeRead,
    sizeWritten: detail.sizeWritten,
    vCore: vCoreOf(detail, now),
  }
}

export function runToWire(run: Run, now: number): object {
  return {
    synchronizationId: run.id,
    synchronizationMode: run.mode,
    status: run.status,
    ...(run.message === null ? {} : { message: run.message }),
    startTime: isoTime(run.startedAt),
    ...(run.endedAt === null ? {} : { endTime: isoTime(run.endedAt) }),
    durationMs: durationOf(run, now) ?? 0,
  }
}

const moment = Type.Optional(Type.String({ format: 'date-time' }))
const whole = Type.Integer({ format: 'int64' })

export const detailList = Type.Object({
  value: Type.Array(
    Type.Object({
      dataSetId: Type.String(),
      dataSetType: Type.Unsafe<string>({ type: 'string', enum: [...kindNames] }),
      name: Type.String(),
      status: Type.String(),
      message: Type.Optional(Type.String()),
      startTime: moment,
      endTime: moment,
      durationMs: Type.Integer({ format: 'int32' }),
      filesRead: whole,
      filesWritten: whole,
      rowsRead: whole,
      rowsCopied: whole,
      sizeRead: whole,
      sizeWritten: whole,
      vCore: whole,
    }),
  ),
  nextLink: Type.Optional(Type.String({ format: 'uri' })),
})

export const runShape = Type.Object({
  synchronizationId: Type.String(),
  synchronizationMode: Type.Union([Type.Literal('Incremental'), Type.Literal('FullSync')]),
  status: Type.String(),
  message: Type.Optional(Type.String()),
  startTime: moment,
  endTime: moment,
  durationMs: Type.Integer({ format: 'int32' }),
})

export const runList = Type.Object({
  value: Type.Array(runShape),
  nextLink: Type.Optional(Type.String({ format: 'uri' })),
})

export function detailFields(now: number): FieldMap<Detail> {
  const number = (read: (detail: Detail) => number | null) =>
    ({ type: 'number', integer: true, read }) as const
  return {
    lenient: true,
    optionalPrefix: 'properties',
    fields: {
      dataSetId: { type: 'string', ignoreCase: true, read: (d) => d.dataSetId },
      dataSetType: { type: 'enum', values: kindNames, read: (d) => d.dataSetType },
      name: { type: 'string', ignoreCase: true, read: (d) => d.name },
      status: { type: 'string', ignoreCase: true, read: (d) => d.status },
      message: { type: 'string', ignoreCase: true, read: (d) => d.message },
      startTime: { type: 'dateTime', read: (d) => dateOf(d.startedAt) },
      endTime: { type: 'dateTime', read: (d) => dateOf(d.endedAt) },
      durationMs: number((d) => durationOf(d, now) ?? 0),
      filesRead: number((d) => d.filesRead),
      filesWritten: number((d) => d.filesWritten),
      rowsRead: number((d) => d.rowsRead),
      rowsCopied: number((d) => d.rowsCopied),
      sizeRead: number((d) => d.sizeRead),
      sizeWritten: number((d) => d.sizeWritten),
      vCore: number((d) => vCoreOf(d, now)),
    },
  }
}

export function runFields(now: number): FieldMap<Run> {
  return {
    lenient: true,
    optionalPrefix: 'properties',
    fields: {
      synchronizationId: { type: 'string', ignoreCase: true, read: (r) => r.id },
      synchronizationMode: {
        type: 'enum',
        values: ['Incremental', 'FullSync'],
        read: (r) => r.mode,
      },
      status: { type: 'string', ignoreCase: true, read: (r) => r.status },
      message: { type: 'string', ignoreCase: true, read: (r) => r.message },
      startTime: { type: 'dateTime', read: (r) => dateOf(r.startedAt) },
      endTime: { type: 'dateTime', read: (r) => dateOf(r.endedAt) },
      durationMs: { type: 'number', integer: true, read: (r) => durationOf(r, now) ?? 0 },
    },
  }
}

function dateOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}
