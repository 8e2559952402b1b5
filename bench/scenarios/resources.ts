/** One resource by its id, out of 10,000: read it, replace it. The comparison with the peers. */

import { armature } from '../contestants/armature.ts'
import { floor, getCase, jsonServer, openapiBackend, prism, putCase } from '../contestants/peers.ts'
import type { Scenario } from '../scenario.ts'

const count = 10_000

export const scenario: Scenario = {
  kind: 'load',
  title: 'One resource out of 10,000',
  about:
    'GET by a random id and PUT of the whole resource to a random existing id; 1.5 KB of JSON each way, ' +
    '32 connections, one request at a time on each.',
  connections: 32,
  cases: [getCase, putCase],
  floor: 'node:http and a Map',
  contestants: [
    floor(count),
    armature(count),
    openapiBackend(count),
    prism(count),
    jsonServer(count),
  ],
}
