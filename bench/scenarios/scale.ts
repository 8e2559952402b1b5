/** The cost of a request must not depend on how much is stored, and the cost of a page on the page alone. */

import { anyPageCase, armatureAmong, firstPageCase } from '../contestants/armature.ts'
import { getCase, putCase } from '../contestants/peers.ts'
import type { Scenario } from '../scenario.ts'

const small = 'Armature, 1,000 groups'
const large = 'Armature, 1,000,000 groups'

export const scenario: Scenario = {
  kind: 'load',
  title: 'Among a thousand and a million',
  about:
    'One of 1,000 and one of 1,000,000 resources of 1.5 KB, read and replaced by a random id (of 50,000, spread evenly); a page of ' +
    '100, the first and one anywhere in the list; 8 connections. Rows kept in memory: 32 MB of the thousand, 128 MB of the million.',
  connections: 8,
  cases: [getCase, putCase, firstPageCase, anyPageCase],
  floor: small,
  contestants: [armatureAmong(small, 1_000), armatureAmong(large, 1_000_000, 128)],
}
