/** Where the installed Chromium is. It loads nothing of tests, since measurements import it, too. */

import { existsSync } from 'node:fs'

export const howToGetChromium =
  'no Chromium was found: install one (`apt-get install chromium`), or set ARMATURE_TEST_CHROMIUM ' +
  'to its program'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export function findChromium(): string | undefined {
  const told = process.env['ARMATURE_TEST_CHROMIUM']
  const looked = told === undefined || told === '' ? places : [told]
  return looked.find((place) => existsSync(place))
}
