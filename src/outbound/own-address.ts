/**
 * Whether an address leads to this machine. No list of interfaces tells it: those without a cable are left out and keep their
 * addresses, and routes may lead whole networks here. The system tells by the address from which it would ask; nothing is sent.
 */

import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import { zoneOf } from './address.ts'

/** What the system says of an address to which there is no way. Of anything else nobody knows, so it counts as own. */
const noWay: ReadonlySet<string> = new Set([
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
])
/** Any port will do. */
const port = 9

/** `address` is written as the system writes it. */
export function isOwnAddress(address: string): Promise<boolean> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
  return new Promise<boolean>((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(!noWay.has(code ?? '')))
    socket.once('connect', () => {
      const source = socket.address().address
      resolve(source === address || zoneOf(source) === 'loopback')
    })
    socket.connect(port, address)
  }).finally(() => socket.close())
}
