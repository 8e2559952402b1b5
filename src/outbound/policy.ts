/** Decides what may be connected to. Pure: it gets addresses and resolves none. */

import { isIP } from 'node:net'
import { zoneOf, zoneOfName } from './address.ts'
import {
  fitsScheme,
  matchesAddress,
  matchesName,
  parseRule,
  type Rule,
  type Target,
} from './rules.ts'

/** Plain data, so that child processes can get it. */
export interface OutboundSettings {
  /**
   * `open`: everything. `guarded`: nothing but the public network, and what is allowed. `listed`: nothing but what is
   * allowed. What is denied is refused in all of them.
   */
  readonly mode: 'open' | 'guarded' | 'listed'
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

export const openSettings: OutboundSettings = { mode: 'open', allow: [], deny: [] }

/** Undefined when allowed; otherwise the reason, for the operator. */
type Reason = string | undefined

interface Policy {
  /** Judges what is known before a name is resolved. An address is judged completely. */
  judgeText(target: Target): Reason
  /** Judges one address of the target's host. */
  judgeAddress(target: Target, address: string): Reason
}

/** `isOwn`: an address of this machine, which may be a public one: what it listens on is behind its own firewall. */
export function createPolicy(
  settings: OutboundSettings,
  isOwn: (address: string) => boolean = () => false,
): Policy {
  const { mode } = settings
  const allow = settings.allow.map(ruleOf)
  const deny = settings.deny.map(ruleOf)

  const isNamed = (rule: Rule, target: Target): boolean =>
    fitsScheme(rule, target) && matchesName(rule, target.host)

  const deniedByText = (target: Target): Reason => {
    const rule = deny.find(
      (one) => isNamed(one, target) || (fitsScheme(one, target) && one.host.kind === 'any'),
    )
    return rule && `'${rule.text}' is denied`
  }

  const judgeAddress = (target: Target, address: string): Reason => {
    const fits = (one: Rule): boolean =>
      isNamed(one, target) || (fitsScheme(one, target) && matchesAddress(one, address))
    const denied = deniedByText(target)
    if (denied !== undefined) return denied
    const rule = deny.find(fits)
    if (rule !== undefined) return `'${rule.text}' is denied`
    if (mode === 'open' || allow.some(fits)) return undefined
    const found = zoneOf(address)
    const zone = found === 'public' && isOwn(address) ? 'local' : found
    if (zone !== 'public') return `${address} is a ${zone} address, and no rule allows it by name`
    // `*` covers public addresses only. An inner host or its network must be named.
    const anybody = allow.some((one) => fitsScheme(one, target) && one.host.kind === 'any')
    return mode === 'guarded' || anybody ? undefined : 'no rule allows it'
  }

  return {
    judgeAddress,
    judgeText(target) {
      if (isIP(target.host) !== 0) return judgeAddress(target, target.host)
      const denied = deniedByText(target)
      if (denied !== undefined || mode === 'open') return denied
      if (allow.some((one) => isNamed(one, target))) return undefined
      const zone = zoneOfName(target.host)
      const byNetwork = allow.filter((one) => fitsScheme(one, target) && one.host.kind !== 'name')
      if (zone !== undefined && !byNetwork.some(({ host }) => host.kind === 'network')) {
        return `'${target.host}' is a ${zone} name, and no rule allows it by name`
      }
      return mode === 'listed' && byNetwork.length === 0 ? 'no rule allows it' : undefined
    },
  }
}

function ruleOf(text: string): Rule {
  const rule = parseRule(text)
  // The settings were checked when they were read.
  if (rule === undefined) throw new Error(`'${text}' is no rule of the outbound policy`)
  return rule
}
