/** From spawning the process to its first answer, and its idle memory. */

import { coldArmature, warmArmature } from '../contestants/armature.ts'
import { floor, jsonServer, openapiBackend, prism } from '../contestants/peers.ts'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  kind: 'start',
  title: 'Start-up and idle memory',
  about: 'From making the process to its first good answer to a user; memory two seconds later.',
  contestants: [
    floor(1),
    coldArmature(),
    warmArmature(),
    openapiBackend(1),
    prism(1),
    jsonServer(1),
  ],
}
