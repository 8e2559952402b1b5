/** The types of a job and its result, shared by the run and the generator's process. */

/** One kind of request, and the paths it is sent to in random order. */
export interface Requests {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly paths: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Sent with every request. It may contain `stampPlaceholder`, which is overwritten with a counter. */
  readonly body?: string
  /** A body for each path instead, with its own placeholder. */
  readonly bodies?: readonly string[]
  /** Half of what is sent is of this kind. */
  readonly half?: Requests
  /** The status of every answer; any other ends the run as a failure. */
  readonly expects: number
}

/** What is answered and not counted: so many requests and seconds at least, and so many seconds at most. */
export interface WarmUp {
  readonly requests: number
  readonly secondsLeast: number
  readonly secondsMost: number
}

export interface LoadJob {
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly warmUp: WarmUp
  readonly seconds: number
  readonly requests: Requests
  /** The process whose processor time is read at both ends of the measurement. */
  readonly serverPid: number
  /** Another server that this one calls, such as its database. */
  readonly behindPid?: number
}

export interface LoadResult {
  readonly completed: number
  readonly seconds: number
  readonly bytesRead: number
  readonly p50Microseconds: number
  readonly p99Microseconds: number
  readonly maxMicroseconds: number
  /** Of the server and its descendants, during the measurement; `undefined` if unknown. */
  readonly serverCpuMicroseconds: number | undefined
  readonly behindCpuMicroseconds?: number | undefined
  /** Of the generator itself: near 1 means that the generator was measured, not the server. */
  readonly generatorCpuShare: number
}
