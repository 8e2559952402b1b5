/** Light and dark themes of the design system with a brand ramp of our own, and the preferences that are kept. */

import {
  type BrandVariants,
  createDarkTheme,
  createLightTheme,
  type Theme,
} from '@fluentui/react-components'

const brand: BrandVariants = {
  10: '#011412',
  20: '#04211e',
  30: '#06302c',
  40: '#083d38',
  50: '#094a44',
  60: '#0a5850',
  70: '#0b655c',
  80: '#0b6b61',
  90: '#138377',
  100: '#2b9388',
  110: '#42a398',
  120: '#58b3a8',
  130: '#6fc3b8',
  140: '#87d2c8',
  150: '#a2e1d9',
  160: '#c1efe9',
}

const dark = createDarkTheme(brand)

const themes: Readonly<Record<'light' | 'dark', Theme>> = {
  light: createLightTheme(brand),
  dark: {
    ...dark,
    // The middle of the ramp is too dark for text on a dark background.
    colorBrandForeground1: brand[130],
    colorBrandForeground2: brand[140],
    colorBrandForegroundLink: brand[130],
    colorBrandForegroundLinkHover: brand[140],
  },
}

export type Appearance = 'light' | 'dark' | 'system'

export function themeOf(appearance: Appearance, systemIsDark: boolean): Theme {
  if (appearance === 'system') return systemIsDark ? themes.dark : themes.light
  return themes[appearance]
}
