/** The results as data: written to `results/`, and the source of the tables. */

export interface LoadRound {
  readonly requestsPerSecond: number
  readonly cpuMicrosecondsPerRequest: number | undefined
  readonly p50Microseconds: number
  readonly p99Microseconds: number
  readonly generatorCpuShare: number
}

export interface LoadRow {
  readonly case: string
  readonly contestant: string
  readonly rounds: readonly LoadRound[]
  readonly requestsPerSecond: number | undefined
  /** How far the rounds disagree. */
  readonly spread: number | undefined
  readonly cpuMicrosecondsPerRequest: number | undefined
  readonly p50Microseconds: number | undefined
  readonly p99Microseconds: number | undefined
  readonly generatorCpuShare: number | undefined
  /** Requests per second as a ratio to the floor, in this run. */
  readonly ratioToFloor: number | undefined
  /** The floor's processor time per request over this one's. Other processes on the machine affect it less. */
  readonly cpuRatioToFloor: number | undefined
  /** After the last load of this case. */
  readonly residentBytes: number | undefined
}

interface StartRow {
  readonly contestant: string
  readonly firstAnswerMilliseconds: readonly number[]
  readonly medianMilliseconds: number | undefined
  /** Two seconds after the first answer. */
  readonly idleBytes: number | undefined
}

interface ScenarioFacts {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly notes: readonly { readonly contestant: string; readonly note: string }[]
}

export interface LoadResults extends ScenarioFacts {
  readonly kind: 'load'
  /** The contestant that the ratios are to. */
  readonly floor: string
  readonly rows: readonly LoadRow[]
}

export interface StartResults extends ScenarioFacts {
  readonly kind: 'start'
  readonly rows: readonly StartRow[]
}

export interface DecideRow {
  readonly contestant: string
  readonly assignments: number
  /** The number of questions; small for deciders that look at everything. */
  readonly asked: number
  readonly allowedShare: number
  readonly decisionsPerSecond: number
  readonly p50Microseconds: number
  readonly p99Microseconds: number
  /** From the assignments as plain objects to the first answer. */
  readonly readyMilliseconds: number
  /** Bytes of the JavaScript heap. */
  readonly bytesPerAssignment: number
}

export interface DecideResults extends ScenarioFacts {
  readonly kind: 'decide'
  readonly rows: readonly DecideRow[]
}

export interface FigureRow {
  /** What was measured, with its unit. */
  readonly figure: string
  readonly contestant: string
  /** One value for each measurement. */
  readonly values: readonly number[]
  readonly median: number | undefined
  /** How far the values disagree; `undefined` for a single one. */
  readonly spread: number | undefined
  /** The ratio of medians, to the contestant that the scenario names. */
  readonly ratio: number | undefined
  /** Digits after the point, in the table. */
  readonly digits: number
}

export interface Figures {
  readonly rows: readonly FigureRow[]
  readonly notes: ScenarioFacts['notes']
  /** What could not be measured on this machine, with the reason. */
  readonly skipped: readonly string[]
}

export interface FigureResults extends ScenarioFacts, Figures {
  readonly kind: 'figures'
}

export type ScenarioResults = LoadResults | StartResults | DecideResults | FigureResults

export interface Machine {
  readonly processor: string
  readonly processors: number
  readonly memoryBytes: number
  readonly system: string
  readonly node: string
  /** Whether server and load had a processor each. */
  readonly pinned: boolean
  /**
   * One write of 4 KB with its flush, on the disk of the data. A value near zero means that the disk does not
   * flush.
   */
  readonly flushMilliseconds: number
}

export interface Results {
  readonly at: string
  readonly machine: Machine
  readonly options: { readonly seconds: number; readonly rounds: number }
  readonly scenarios: readonly ScenarioResults[]
  /** Names of scenarios that could not be measured. */
  readonly failed: readonly string[]
}
