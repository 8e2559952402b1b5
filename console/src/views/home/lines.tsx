/** A short list in a card: a name that leads on, where it is, and its state. */

import { makeStyles, Text, tokens } from '@fluentui/react-components'
import type { ReactNode } from 'react'
import { AppLink } from '../../components/app-link.tsx'

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: {
    display: 'flex',
    flexWrap: 'wrap',
    gap: tokens.spacingHorizontalS,
    alignItems: 'center',
    overflowWrap: 'anywhere',
    minWidth: 0,
  },
})

export interface Line {
  readonly id: string
  readonly to: string
  readonly name: string
  readonly where?: string | undefined
  readonly state: ReactNode
}

export function Lines({ lines }: { readonly lines: readonly Line[] }) {
  const styles = useStyles()
  return (
    <ul className={styles.list}>
      {lines.map(({ id, to, name, where, state }) => (
        <li key={id} className={styles.line}>
          <AppLink to={to}>
            <bdi>{name}</bdi>
          </AppLink>
          {where !== undefined && <Text size={200}>{where}</Text>}
          {state}
        </li>
      ))}
    </ul>
  )
}
