/** The cost of a page must depend on the page, not on the list. */

import { anyPageCase, armatureList, firstPageCase } from '../contestants/armature.ts'
import type { Scenario } from '../scenario.ts'

const small = 'Armature, 1,000 groups'
const large = 'Armature, 1,000,000 groups'

export const scenario: Scenario = {
  kind: 'load',
  title: 'A page of a list',
  about:
    'A page of 100 resources of 1.5 KB, the first and one anywhere in the list, out of 1,000 and out of ' +
    '1,000,000; 8 connections.',
  connections: 8,
  cases: [firstPageCase, anyPageCase],
  floor: small,
  contestants: [armatureList(small, 1_000), armatureList(large, 1_000_000)],
}
