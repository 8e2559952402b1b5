/** The design system around everything, light or dark, as the person or their system prefers. */

import { FluentProvider, makeStyles, tokens } from '@fluentui/react-components'
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import { usePreference } from './preferences.ts'
import { type Appearance, themeOf } from './theme.ts'

const system = matchMedia('(prefers-color-scheme: dark)')

interface LookContext {
  readonly dark: boolean
  readonly toggle: () => void
}

const Context = createContext<LookContext>({ dark: false, toggle: () => undefined })

export function useLook(): LookContext {
  return useContext(Context)
}

const useStyles = makeStyles({
  // Not on the provider: its class is also given to the containers of dialogs, and would cover the page.
  all: { minHeight: '100dvh', backgroundColor: tokens.colorNeutralBackground1 },
})

export function Look({ children }: { readonly children: ReactNode }) {
  const styles = useStyles()
  const systemIsDark = useSyncExternalStore(
    (listener) => {
      system.addEventListener('change', listener)
      return () => system.removeEventListener('change', listener)
    },
    () => system.matches,
  )
  const [appearance, setAppearance] = usePreference<Appearance>('appearance', 'system')
  const dark = appearance === 'system' ? systemIsDark : appearance === 'dark'
  return (
    <Context value={{ dark, toggle: () => setAppearance(dark ? 'light' : 'dark') }}>
      <FluentProvider theme={themeOf(appearance, systemIsDark)}>
        <div className={styles.all}>{children}</div>
      </FluentProvider>
    </Context>
  )
}
