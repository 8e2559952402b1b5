/** The setting of what templates may be fetched from: addresses, each standing for everything below it. */

import { isUrl, type Setting, Wrong } from './setting.ts'

const listMax = 100

export function templateLinksSetting(description: string): Setting<readonly string[]> {
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
