/** Settings of what the installation itself may ask over the network, and where it may send browsers. */

import { flag, isUrl, type Setting, Wrong } from './setting.ts'

const listMax = 100

export interface OutboundConfig {
  readonly templateLinks: readonly string[]
  readonly templateLinksPrivate: boolean
  readonly consentRedirects: readonly string[]
  readonly consentPrivate: boolean
}

/** Addresses, each standing for everything below it. */
function addresses(description: string): Setting<readonly string[]> {
  return {
    expected: 'http or https addresses that end with a slash, with commas between them',
    default: '',
    description,
    parse(raw) {
      const list = typeof raw === 'string' ? raw.split(',').map((one) => one.trim()) : raw
      if (!Array.isArray(list) || list.length > listMax) return new Wrong()
      const given = list.filter((one) => one !== '')
      const bad = given.find((one) => !isAddress(one))
      if (bad !== undefined) {
        return new Wrong(
          `${JSON.stringify(bad)} is no http or https address that ends with a slash`,
        )
      }
      // Each was just found to be text.
      return given as readonly string[]
    },
  }
}

/** With its slash it cannot be the beginning of another host's name or of another folder's. */
function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !isUrl(value, ['http:', 'https:'])) return false
  const url = URL.parse(value)
  return url?.username === '' && url.search === '' && url.hash === '' && value.endsWith('/')
}

export const outboundSettings = {
  templateLinks: addresses(
    'Addresses below which linked templates and parameter files may be fetched. Empty is none: links are refused.',
  ),
  templateLinksPrivate: flag({
    default: 'false',
    description:
      'Let `templateLinks` lead to loopback, private and link-local addresses: the installation’s own network.',
  }),
  consentRedirects: addresses(
    'Addresses below which browsers may go back to after a consent, besides the installation’s and the own machine’s.',
  ),
  consentPrivate: flag({
    default: 'false',
    description: 'Let identity providers of authorizations have loopback and private addresses.',
  }),
} as const
