/** Lets a scenario measure its own figures, and makes rows of them. */

import type { FigureScenario } from '../scenario.ts'
import type { Measuring } from './measure-load.ts'
import type { FigureResults, FigureRow } from './results.ts'
import { median, spread } from './statistics.ts'

export async function measureFigures(
  name: string,
  scenario: FigureScenario,
  measuring: Measuring,
): Promise<FigureResults> {
  const figures = await scenario.measure(name, measuring)
  return { kind: 'figures', name, title: scenario.title, about: scenario.about, ...figures }
}

interface Taken {
  readonly figure: string
  readonly contestant: string
  readonly values: readonly number[]
  readonly digits?: number
  /** The values that the ratio refers to. */
  readonly to?: readonly number[]
}

export function figureRow({ figure, contestant, values, digits = 0, to }: Taken): FigureRow {
  const own = median(values)
  const other = to === undefined ? undefined : median(to)
  return {
    figure,
    contestant,
    values,
    median: own,
    spread: values.length > 1 ? spread(values) : undefined,
    ratio: own === undefined || !other ? undefined : own / other,
    digits,
  }
}
