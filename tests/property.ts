/**
 * fast-check as every property test takes it. The ordinary suite has one seed, so that it fails only for what changed;
 * the long suite has a new one each time. A failing property stops looking for a smaller example after a while:
 * otherwise a property over large values would try for hours, and its failure would never be told.
 */

import fc from 'fast-check'

const isLong = process.env['ARMATURE_TEST_LONG'] !== undefined

fc.configureGlobal({
  ...(isLong ? {} : { seed: 20_261_122 }),
  interruptAfterTimeLimit: isLong ? 900_000 : 120_000,
})

export { fc }
