/**
 * What a scenario is. Each file of `scenarios/` exports one; `run.ts` finds them there, so that adding a
 * comparison is adding a file.
 */

import type { Decider } from './decisions/fixture.ts'
import type { Command } from './harness/child.ts'
import type { Measuring } from './harness/measure-load.ts'
import type { Figures } from './harness/results.ts'
import type { Requests } from './load/job.ts'

/** What a contestant is given to start in. */
export interface Place {
  /** An empty folder on a real disk, its own for the whole scenario. */
  readonly folder: string
  /** Free on 127.0.0.1; the only address it may listen on. */
  readonly port: number
  readonly origin: string
}

/** A server in the comparison. */
export interface Contestant {
  readonly name: string
  /** What of its conduct bears on the figures: how durable it is, what it checks. Printed below the table. */
  readonly note: string
  /** Puts what it needs into its folder, and its data in place. Called once, before the first start. */
  prepare?(place: Place): Promise<void>
  /** Called before every start of a start-up scenario. */
  reset?(place: Place): Promise<void>
  command(place: Place): Command
  /**
   * Asks it for something a user would ask for; true when it answered that. Called again and again from the
   * moment it was spawned, so it throws or returns false while nothing listens yet.
   */
  ask(place: Place): Promise<boolean>
  /** Its requests by the name of the case; called once it answers. A case that it lacks is left out. */
  requests?(place: Place): Promise<Readonly<Record<string, Requests>>>
}

/** Servers that run side by side while each in turn is put under load, case by case. */
export interface LoadScenario {
  readonly kind: 'load'
  readonly title: string
  readonly about: string
  readonly connections: number
  readonly cases: readonly string[]
  readonly contestants: readonly Contestant[]
  /** The contestant that the ratios are to. */
  readonly floor: string
}

/** Servers that are started one after the other, to see how long until the first answer and how large. */
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
  /** The first one's answers are what the others' are held against. */
  readonly deciders: readonly Decider[]
}

/** Figures that no common harness takes: the scenario measures by itself, within the run's rounds. */
export interface FigureScenario {
  readonly kind: 'figures'
  readonly title: string
  readonly about: string
  measure(name: string, measuring: Measuring): Promise<Figures>
}

export type Scenario = LoadScenario | StartScenario | DecideScenario | FigureScenario
