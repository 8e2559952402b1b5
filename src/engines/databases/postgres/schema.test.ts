/** The order in which a dump's entries are restored. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsAfterRows } from './schema.ts'

const index = '3300; 1259 16400 INDEX app log_id postgres'
const constraint = '3301; 2606 16401 CONSTRAINT app log log_pkey postgres'
const attached = '3302; 0 0 INDEX ATTACH app log_a_id_idx postgres'
const attachedToo = '3303; 0 0 INDEX ATTACH app log_b_id_idx postgres'
const foreign = '3304; 2606 16402 FK CONSTRAINT app note note_log_fkey postgres'
const trigger = '3305; 2620 16403 TRIGGER app log changed postgres'
const comment = '3306; 0 0 COMMENT app INDEX log_id postgres'

test('indexes of partitions are attached one by one, after all indexes and before foreign keys; triggers of partitions come last', () => {
  assert.deepEqual(
    stepsAfterRows([index, attached, foreign, constraint, attachedToo, trigger, comment]),
    [
      { lines: [index, constraint], inOrder: false },
      { lines: [attached, attachedToo], inOrder: true },
      { lines: [foreign, trigger, comment], inOrder: false },
      { lines: [], inOrder: true },
    ],
  )
  const kept = '3307; 1259 16405 MATERIALIZED VIEW app kept postgres'
  const seen = '3308; 2618 16406 RULE app seen _RETURN postgres'
  const filled = '3309; 0 16405 MATERIALIZED VIEW DATA app kept postgres'
  assert.deepEqual(stepsAfterRows([constraint, kept, index, seen, attached, filled]), [
    { lines: [constraint], inOrder: false },
    { lines: [kept, seen], inOrder: false },
    { lines: [index], inOrder: false },
    { lines: [attached], inOrder: true },
    { lines: [filled], inOrder: false },
    { lines: [], inOrder: true },
  ])
  const ofPartition = '3309; 2620 16404 TRIGGER app log_a changed postgres'
  const whole = [ofPartition, index, foreign, trigger]
  assert.deepEqual(stepsAfterRows(whole, new Set(['2620 16404'])), [
    { lines: [index, foreign, trigger], inOrder: false },
    { lines: [ofPartition], inOrder: true },
  ])
})
