/** Settings that are lists of addresses and networks. */

import { isIP } from 'node:net'
import { type Setting, textList } from './setting.ts'

/** `10.0.0.0/8`, `192.0.2.7`, `2001:db8::/32`, separated by commas. */
export function networkList(description: string): Setting<readonly string[]> {
  return textList('addresses or networks (`10.0.0.0/8`), with commas between them', isNetwork, {
    description,
    bad: 'is no address and no network such as 10.0.0.0/8',
  })
}

function isNetwork(value: string): boolean {
  const [address = '', prefix, more] = value.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more !== undefined) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
