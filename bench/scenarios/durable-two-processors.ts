/** Writes that are on the disk before they are answered, of callers who are checked, and reads among them: beside etcd. */

import { armature } from '../contestants/armature.ts'
import { etcd, hasEtcd } from '../contestants/etcd.ts'
import { floor, getCase, mixedCase, putCase } from '../contestants/peers.ts'
import type { Scenario } from '../scenario.ts'

const count = 10_000

export const scenario: Scenario = {
  kind: 'load',
  title: 'Durable writes of a known caller, two processors',
  about:
    'One value of 1.5 KB out of 10,000: read, replaced, and each in turn by chance. 32 connections, one request at a time on ' +
    'each; server and load share both processors.',
  connections: 32,
  cases: [getCase, putCase, mixedCase],
  floor: 'node:http and a Map',
  serversOnAll: true,
  contestants: [floor(count), armature(count), ...(hasEtcd() ? [etcd(count)] : [])],
}
