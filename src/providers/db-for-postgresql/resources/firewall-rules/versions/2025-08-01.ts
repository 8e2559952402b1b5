/** The wire format of firewall rules. */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { version } from '../../../dependencies.ts'
import type { FirewallRule } from '../model.ts'

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const address = (description: string) =>
  Type.String({ pattern: `^(${octet}\\.){3}${octet}$`, description })

const shape = Type.Object({
  properties: Type.Object({
    startIpAddress: address('The first address (IPv4) of the range.'),
    endIpAddress: address('The last one.'),
  }),
})

export const firewallRule: Version<FirewallRule> = {
  date: version,
  body: shape,
  answer: shape,
  unknownProperties: 'ignore',
  problems({ properties: { startIpAddress, endIpAddress } }: Static<typeof shape>) {
    if (asNumber(startIpAddress) <= asNumber(endIpAddress)) return []
    return [
      { path: 'properties.endIpAddress', message: `expected ${startIpAddress}, or one after it` },
    ]
  },
  toModel: ({ properties: { startIpAddress, endIpAddress } }: Static<typeof shape>) => ({
    startIpAddress,
    endIpAddress,
  }),
  fromModel: (properties) => ({ properties }),
}

function asNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}
