/**
 * The health port: reports that something the installation depends on fails, or works again. Parts that notice a
 * failure call it; the part that informs users implements it. It knows no events.
 */

export interface HealthSignal {
  /** What fails, such as `containers/engine`. The same key means the same failure until it is cleared. */
  readonly key: string
  /** The service's name as users know it: `Container Instances`. */
  readonly service: string
  readonly title: string
  /** The known reason, without any secret. */
  readonly summary: string
  readonly level: 'Critical' | 'Error' | 'Warning'
  /** The affected resources; when left out, the whole service is affected. */
  readonly resourceIds?: readonly string[]
}

export interface HealthSignals {
  /** Reports a failure. It is stored when the promise resolves. Repeated calls have no further effect. */
  raise(signal: HealthSignal): Promise<void>
  /** Reports the end of a failure. Does nothing when none was reported. */
  clear(key: string, summary: string): Promise<void>
}
