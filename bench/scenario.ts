/**
 * The types of scenarios. Each file of `scenarios/` exports one, and `run.ts` finds it there. To add a comparison,
 * add a file.
 */

import type { Decider } from './decisions/fixture.ts'
import type { Command } from './harness/child.ts'
import type { Measuring } from './harness/measure-load.ts'
import type { Figures } from './harness/results.ts'
import type { Requests } from './load/job.ts'

/** Where a contestant starts. */
export interface Place {
  /** An empty folder on a real disk, for this contestant and scenario alone. */
  readonly folder: string
  /** A free port on 127.0.0.1, the only address it may listen on. */
  readonly port: number
  readonly origin: string
}

/** A server in the comparison. */
export interface Contestant {
  readonly name: string
  /** What it does that affects the figures: how durable it is, what it checks. Printed below the table. */
  readonly note: string
  /** Prepares its folder and data. Called once, before the first start. */
  prepare?(place: Place): Promise<void>
  /** Called before every start of a start-up scenario. */
  reset?(place: Place): Promise<void>
  command(place: Place): Command
  /**
   * Sends a request that a user would send. True when it was answered as expected. Called again and again from the
   * moment the process was spawned, so it throws or returns false while nothing listens yet.
   */
  ask(place: Place): Promise<boolean>
  /** Its requests by the name of the case, called once it answers. A case that it does not support is left out. */
  requests?(place: Place): Promise<Readonly<Record<string, Requests>>>
}

/** Servers that run side by side. Each in turn is put under load, case by case. */
export interface LoadScenario {
  readonly kind: 'load'
  readonly title: string
  readonly about: string
  readonly connections: number
  readonly cases: readonly string[]
  readonly contestants: readonly Contestant[]
  /** The contestant that the ratios are to. */
  readonly floor: string
  /** Servers may use every processor, beside the load. */
  readonly serversOnAll?: true
}

/** Servers that are started one after the other, to measure the time to the first answer and the memory. */
export interface StartScenario {
  readonly kind: 'start'
  readonly title: string
  readonly about: string
  readonly contestants: readonly Contestant[]
}

/** Deciders in this process, asked the same questions at several sizes. */
export interface DecideScenario {
  readonly kind: 'decide'
  readonly title: string
  readonly about: string
  /** Numbers of assignments. */
  readonly sizes: readonly number[]
  /** The answers of the others are compared with those of the first. */
  readonly deciders: readonly Decider[]
}

/** Figures that need a harness of their own: the scenario measures by itself, within the rounds of the run. */
export interface FigureScenario {
  readonly kind: 'figures'
  readonly title: string
  readonly about: string
  measure(name: string, measuring: Measuring): Promise<Figures>
}

export type Scenario = LoadScenario | StartScenario | DecideScenario | FigureScenario
