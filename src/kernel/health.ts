/**
 * The health port: something the installation depends on is out of order, or is well again. Whoever notices tells
 * it; whoever tells users implements it. It knows no event.
 */

export interface HealthSignal {
  /** What is out of order: `containers/engine`. The same key is the same trouble until it is cleared. */
  readonly key: string
  /** As users know it: `Container Instances`. */
  readonly service: string
  readonly title: string
  /** What is known of the reason. Never a secret. */
  readonly summary: string
  readonly level: 'Critical' | 'Error' | 'Warning'
  /** The resources it is about; left out, it is about all of the service. */
  readonly resourceIds?: readonly string[]
}

export interface HealthSignals {
  /** Durable when it resolves. Idempotent while it lasts. */
  raise(signal: HealthSignal): Promise<void>
  /** Does nothing where nothing was raised. */
  clear(key: string, summary: string): Promise<void>
}
