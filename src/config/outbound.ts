/** Settings of what the installation may connect to, and where it may redirect browsers. */

import { isLoopback } from '#outbound/address.ts'
import type { OutboundSettings } from '#outbound/policy.ts'
import { parseRule, ruleForm } from '#outbound/rules.ts'
import { choice, isUrl, type Setting, textList } from './setting.ts'

export interface OutboundConfig {
  readonly outbound: OutboundSettings
  readonly templateLinks: readonly string[]
  readonly consentRedirects: readonly string[]
}

/** Addresses; each stands for everything below it. */
function addresses(description: string): Setting<readonly string[]> {
  return textList(
    'http or https addresses that end with a slash, with commas between them',
    isAddress,
    { description, bad: 'is no http or https address that ends with a slash' },
  )
}

/** The trailing slash keeps it from being a prefix of another host's or folder's name. */
function isAddress(value: string): boolean {
  if (!isUrl(value, ['http:', 'https:'])) return false
  const url = URL.parse(value)
  return url?.username === '' && url.search === '' && url.hash === '' && value.endsWith('/')
}

function rules(description: string): Setting<readonly string[]> {
  return textList(
    `rules with commas between them, each ${ruleForm}`,
    (value) => parseRule(value) !== undefined,
    { description, bad: `is no rule; a rule is ${ruleForm}` },
  )
}

export const outboundSettings = {
  outbound: choice(['auto', 'open', 'guarded', 'listed'], {
    default: 'auto',
    description:
      'What the server may connect to for its callers (git, PostgreSQL, blobs, image registries, identity providers, templates). `open`: everything. `guarded`: the public network without this machine, and what `outboundAllow` names. `listed`: only what `outboundAllow` names. `auto` is `open` while the server listens on loopback alone, with no other public address and no trusted proxies, else `guarded`.',
  }),
  outboundAllow: rules(
    'Where the server may connect to besides. A loopback, private, link-local or metadata address is allowed by its name, address or network; `*` stands for the public network only.',
  ),
  outboundDeny: rules('Where the server must not connect to, whatever else is allowed.'),
  templateLinks: addresses(
    'Addresses below which linked templates and parameter files may be fetched. Empty is none: links are refused.',
  ),
  consentRedirects: addresses(
    'Addresses below which browsers may go back to after a consent, besides the installation’s and the own machine’s.',
  ),
} as const

/** The replacement of each removed setting. */
export const outboundReplaced: Readonly<Record<string, string>> = Object.fromEntries(
  ['templateLinksPrivate', 'consentPrivate'].map((name) => [
    name,
    'is replaced by one policy for all that goes out: name the private hosts or networks in ARMATURE_OUTBOUND_ALLOW (`outboundAllow`), or set ARMATURE_OUTBOUND=open',
  ]),
)

interface Read {
  readonly outbound: 'auto' | OutboundSettings['mode']
  readonly outboundAllow: readonly string[]
  readonly outboundDeny: readonly string[]
  readonly host: string
  readonly publicUrl: string
  readonly trustedProxies: readonly string[]
}

export function arrangeOutbound(read: Read): OutboundSettings {
  const byReach = isReached(read) ? 'guarded' : 'open'
  const mode = read.outbound === 'auto' ? byReach : read.outbound
  return { mode, allow: read.outboundAllow, deny: read.outboundDeny }
}

/** Whether others than this machine's own users reach the server: directly, or through a proxy. */
function isReached({ host, publicUrl, trustedProxies }: Read): boolean {
  const publicHost = URL.parse(publicUrl)?.hostname
  if (!isLoopback(host) || trustedProxies.length > 0) return true
  return publicHost !== undefined && !isLoopback(publicHost)
}
