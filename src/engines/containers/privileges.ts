/**
 * What a part asks for beyond what engines give every container: ways to own the machine, refused by every
 * backend unless the operator opened it with `allowPrivileged`.
 */

import type { PartSpec } from './engine.ts'

const ordinaryCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

/** In capitals and without the prefix, as capabilities are compared. */
export function plainCapability(name: string): string {
  return name.toUpperCase().replace(/^CAP_/, '')
}

/** Engines give it to every container. */
export function isOrdinary(capability: string): boolean {
  return ordinaryCapabilities.has(plainCapability(capability))
}

/** What it asks for, in words; undefined when it asks for nothing more. */
export function requiredPrivilege({ security }: PartSpec): string | undefined {
  if (security === undefined) return undefined
  if (security.privileged === true) return 'to be privileged'
  const beyond = (security.addCapabilities ?? []).filter((one) => !isOrdinary(one))
  if (beyond.length > 0) return `for the capabilities ${beyond.join(', ')}`
  return security.seccompProfile === undefined ? undefined : 'for a seccomp profile of its own'
}
