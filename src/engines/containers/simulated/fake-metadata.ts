/** Addresses, ports and image ids of simulated groups. The same names always have the same ones. Pure. */

import { createHash } from 'node:crypto'
import type { PortSpec } from '../engine.ts'

/** In the range reserved for benchmarks (RFC 2544), which is not routed. */
export function addressOf(group: string): string {
  const [a, b, c] = digest(group)
  return `198.${18 + ((a ?? 0) % 2)}.${b}.${c}`
}

export function hostPortOf(group: string, port: PortSpec): number {
  return 30_000 + (digest(`${group}/${port.port}/${port.protocol}`).readUInt16BE(0) % 2768)
}

export function imageIdOf(image: string): string {
  return `sha256:${digest(image).toString('hex')}`
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
