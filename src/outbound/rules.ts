/**
 * Rules of the outbound policy as an operator writes them: `[scheme://]host[:port]`, where the host is a name,
 * `*.name`, an address, a network in CIDR form, or `*`.
 */

import { BlockList, isIP } from 'node:net'
import { canonicalHost, plainAddress } from './address.ts'

export interface Rule {
  /** The rule as it was written. */
  readonly text: string
  readonly scheme: string | undefined
  readonly host: RuleHost
  readonly ports: { readonly from: number; readonly to: number } | undefined
}

type RuleHost =
  | { readonly kind: 'any' }
  /** `below`: every name that ends with it, but not the name itself. */
  | { readonly kind: 'name'; readonly name: string; readonly below: boolean }
  | { readonly kind: 'network'; readonly list: BlockList; readonly family: 'ipv4' | 'ipv6' }

export const ruleForm =
  '`[scheme://]host[:port]`, where the host is a name, `*.name`, an address, a network such as `10.1.0.0/16` or `[fd00::]/8`, or `*`'

const pattern =
  /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[0-9a-fA-F:.]+\](?:\/\d{1,3})?|[^:[\]]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\/\d{1,3})(?::(\d{1,5})(?:-(\d{1,5}))?)?$/

/** Undefined for text that is no rule. */
export function parseRule(text: string): Rule | undefined {
  const [, scheme, written = '', from, to = from] = pattern.exec(text.trim()) ?? []
  const host = parseHost(written)
  if (host === undefined) return undefined
  if (from === undefined) return { text, scheme, host, ports: undefined }
  const ports = { from: Number(from), to: Number(to) }
  if (ports.from > ports.to || ports.to > 65_535) return undefined
  return { text, scheme, host, ports }
}

function parseHost(written: string): RuleHost | undefined {
  if (written === '*') return { kind: 'any' }
  const [address = '', prefix] = written.split('/')
  const below = address.startsWith('*.')
  const name = canonicalHost(below ? address.slice(2) : address)
  if (name === undefined || name.includes('*')) return undefined
  if (isIP(name) === 0) {
    return prefix === undefined ? { kind: 'name', name, below } : undefined
  }
  if (below) return undefined
  const family = isIP(name) === 4 ? 'ipv4' : 'ipv6'
  const bits = family === 'ipv4' ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  if (length > bits) return undefined
  const list = new BlockList()
  list.addSubnet(name, length, family)
  return { kind: 'network', list, family }
}

export interface Target {
  /** `https`, `http`, `postgresql`. */
  readonly scheme: string
  /** In canonical spelling. */
  readonly host: string
  readonly port: number
}

/** Whether scheme and port match the rule. The host is not compared. */
export function fitsScheme(rule: Rule, { scheme, port }: Target): boolean {
  if (rule.scheme !== undefined && rule.scheme !== scheme) return false
  return rule.ports === undefined || (port >= rule.ports.from && port <= rule.ports.to)
}

export function matchesName({ host }: Rule, name: string): boolean {
  if (host.kind !== 'name') return false
  return host.below ? name.endsWith(`.${host.name}`) : name === host.name
}

export function matchesAddress({ host }: Rule, address: string): boolean {
  if (host.kind !== 'network') return false
  // An IPv4 address is the same however it is wrapped; a rule may also name the wrapped form.
  return [address.split('%', 1)[0] ?? '', plainAddress(address)].some(
    (one) => isIP(one) === (host.family === 'ipv4' ? 4 : 6) && host.list.check(one, host.family),
  )
}
