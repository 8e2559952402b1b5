/**
 * The promises of `engine.ts` as tests, for every engine alike. Promises about what programs see inside a
 * container stand in `contract/programs.ts`. Nothing here is timed: tests wait for a state, and fail when
 * it does not come.
 */

import {
  type ContractFixture,
  type OpenBackend,
  type Require,
  withFixture,
} from './contract/fixture.ts'
import { testLife } from './contract/life.ts'
import { testObserving } from './contract/observing.ts'
import { testRefusals } from './contract/refusals.ts'
import { testRepeats } from './contract/repeats.ts'
import { testStreams } from './contract/streams.ts'

/**
 * `otherwise` names promises that do not apply to an engine by its own description, each with the reason; they are
 * tested in its own way beside it. A name that is no promise is a fault.
 */
export function containerEngineContract(
  name: string,
  open: OpenBackend,
  require: Require,
  otherwise: Readonly<Record<string, string>> = {},
): void {
  const left = new Set(Object.keys(otherwise))
  withFixture(`container engine contract: ${name}`, open, require, (fixture) => {
    const applying: ContractFixture = {
      ...fixture,
      test: (title, body) => {
        if (!left.delete(title)) fixture.test(title, body)
      },
    }
    testObserving(applying)
    testLife(applying)
    testRepeats(applying)
    testRefusals(applying)
    testStreams(applying)
    if (left.size > 0) throw new Error(`no promise is called ${[...left].join(', ')}`)
  })
}
