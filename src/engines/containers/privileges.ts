/**
 * Finds the privileges a part requests beyond what engines give every container. They could take over the machine,
 * so every engine refuses them unless the operator opened it with `allowPrivileged`.
 */

import type { ContainerSpec } from './engine.ts'

const ordinaryCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

/** Packets of one's own making: by them a program reaches what listens on loopback addresses of the host, and gets what others are sent. */
const rawPackets = 'NET_RAW'

/** The form in which capabilities are compared: in capitals and without the prefix. */
export function plainCapability(name: string): string {
  return name.toUpperCase().replace(/^CAP_/, '')
}

/** Whether every container may have it. */
export function isOrdinary(capability: string): boolean {
  return ordinaryCapabilities.has(plainCapability(capability))
}

/** A description of the requested privilege; undefined when there is none. */
export function requiredPrivilege({ security }: ContainerSpec): string | undefined {
  if (security === undefined) return undefined
  if (security.privileged === true) return 'to be privileged'
  const beyond = (security.addCapabilities ?? []).filter((one) => !isOrdinary(one))
  if (beyond.length > 0) return `for the capabilities ${beyond.join(', ')}`
  return security.seccompProfile === undefined ? undefined : 'for a seccomp profile of its own'
}

/** The capabilities that a container is made without. */
export function withoutCapabilities({ security = {} }: ContainerSpec): readonly string[] {
  const { privileged = false, addCapabilities = [], dropCapabilities = [] } = security
  const named = new Set([...addCapabilities, ...dropCapabilities].map(plainCapability))
  const isSaid = privileged || named.has('ALL') || named.has(rawPackets)
  return isSaid ? dropCapabilities : [...dropCapabilities, rawPackets]
}
