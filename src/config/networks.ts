/** Settings that are lists of addresses and networks. */

import { isIP } from 'node:net'
import { type Setting, Wrong } from './setting.ts'

const listMax = 100

/** `10.0.0.0/8`, `192.0.2.7`, `2001:db8::/32`, with commas between them. */
export function networkList(description: string): Setting<readonly string[]> {
  return {
    expected: 'addresses or networks (`10.0.0.0/8`), with commas between them',
    default: '',
    description,
    parse(raw) {
      const list = typeof raw === 'string' ? raw.split(',').map((one) => one.trim()) : raw
      if (!Array.isArray(list) || list.length > listMax) return new Wrong()
      const given = list.filter((one) => one !== '')
      const bad = given.find((one) => !isNetwork(one))
      if (bad !== undefined) {
        return new Wrong(`${JSON.stringify(bad)} is no address and no network such as 10.0.0.0/8`)
      }
      // Each was just found to be text.
      return given as readonly string[]
    },
  }
}

function isNetwork(value: unknown): boolean {
  if (typeof value !== 'string') return false
  const [address = '', prefix, more] = value.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more !== undefined) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
