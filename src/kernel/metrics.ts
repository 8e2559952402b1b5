/**
 * The metrics port: what is measured of a resource over time. A provider implements it for a type of its own; the part
 * that answers requests knows no type.
 */

import type { ResourceId } from './resource-id.ts'
import type { SystemData } from './system-data.ts'

export interface Metric {
  /** `CpuUsage` */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly unit: 'Count' | 'Bytes'
  /** What its series differ by: `containerName`. Left out where there is one series. */
  readonly dimension?: string
  /** How long values are kept. */
  readonly keptMinutes: number
}

/** The measures of one minute. */
export interface Minute {
  /** The beginning of the minute, in milliseconds since 1970. */
  readonly at: number
  readonly count: number
  readonly sum: number
  readonly least: number
  readonly most: number
}

export interface MetricSeries {
  readonly metric: string
  /** The value of the metric's dimension. */
  readonly of?: string
  /** The oldest first; a minute without a measure is left out. */
  readonly minutes: readonly Minute[]
}

export interface MetricSource {
  /** Empty while nothing is measured of resources of the type. */
  metrics(): Promise<readonly Metric[]>
  /** All series of the resource that are kept, in no order. */
  read(resource: {
    readonly id: ResourceId
    readonly systemData: SystemData
  }): readonly MetricSeries[]
}
