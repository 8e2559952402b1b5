/**
 * The fast-check settings of every property test. The ordinary suite has one seed, so that it fails only because of
 * a change. The long suite has a new seed each time. Shrinking of a failing example stops after a while: for large
 * values it could go on for hours, and the failure would never be reported.
 */

import fc from 'fast-check'

const isLong = process.env['ARMATURE_TEST_LONG'] !== undefined

fc.configureGlobal({
  ...(isLong ? {} : { seed: 20_261_122 }),
  interruptAfterTimeLimit: isLong ? 900_000 : 120_000,
})

export { fc }
