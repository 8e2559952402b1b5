/** What a load is, and what it found: the words between the run and the generator's process. */

/** One kind of request, and the paths it is sent to in random order. */
export interface Requests {
  readonly method: 'GET' | 'PUT'
  readonly paths: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Sent with every request; may hold `stampPlaceholder`, which is overwritten with a counter. */
  readonly body?: string
  /** The status of every answer; any other ends the run as a failure. */
  readonly expects: number
}

export interface LoadJob {
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly requests: Requests
  /** Whose processor time is taken at the two ends of the measured time. */
  readonly serverPid: number
  /** Of another server that this one asks, such as its database. */
  readonly behindPid?: number
}

export interface LoadResult {
  readonly completed: number
  readonly seconds: number
  readonly bytesRead: number
  readonly p50Microseconds: number
  readonly p99Microseconds: number
  readonly maxMicroseconds: number
  /** Of the server and its descendants, during the measured time; `undefined` where nothing tells. */
  readonly serverCpuMicroseconds: number | undefined
  readonly behindCpuMicroseconds?: number | undefined
  /** Of the generator itself: near 1 means that it was measured, not the server. */
  readonly generatorCpuShare: number
}
