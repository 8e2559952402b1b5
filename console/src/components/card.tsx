/** A part of a page with a heading. */

import { makeStyles, Subtitle2, tokens } from '@fluentui/react-components'
import type { ReactNode } from 'react'

const useStyles = makeStyles({
  card: {
    border: `1px solid ${tokens.colorNeutralStroke2}`,
    borderRadius: tokens.borderRadiusLarge,
    padding: tokens.spacingHorizontalL,
    display: 'flex',
    flexDirection: 'column',
    gap: tokens.spacingVerticalS,
    minWidth: 0,
    backgroundColor: tokens.colorNeutralBackground1,
  },
  heading: { margin: 0 },
  grid: {
    display: 'grid',
    gap: tokens.spacingHorizontalL,
    gridTemplateColumns: 'repeat(auto-fit, minmax(min(320px, 100%), 1fr))',
    alignItems: 'start',
  },
  pairs: {
    display: 'grid',
    gridTemplateColumns: 'minmax(110px, max-content) 1fr',
    gap: `${tokens.spacingVerticalS} ${tokens.spacingHorizontalL}`,
    margin: 0,
    '@media (max-width: 600px)': { gridTemplateColumns: '1fr', rowGap: '2px' },
  },
  term: { color: tokens.colorNeutralForeground2 },
  value: { margin: 0, overflowWrap: 'anywhere', minWidth: 0 },
})

export function Card({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}) {
  const styles = useStyles()
  return (
    <section className={styles.card} aria-label={title}>
      <Subtitle2 as="h2" className={styles.heading}>
        {title}
      </Subtitle2>
      {children}
    </section>
  )
}

export function CardGrid({ children }: { readonly children: ReactNode }) {
  return <div className={useStyles().grid}>{children}</div>
}

/** Names and values. An undefined value is left out. */
export function Pairs({
  pairs,
}: {
  readonly pairs: readonly (readonly [name: string, value: ReactNode])[]
}) {
  const styles = useStyles()
  return (
    <dl className={styles.pairs}>
      {pairs
        .filter(([, value]) => value !== undefined && value !== '' && value !== null)
        .map(([name, value]) => (
          <Pair key={name} name={name} value={value} />
        ))}
    </dl>
  )
}

function Pair({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  const styles = useStyles()
  return (
    <>
      <dt className={styles.term}>{name}</dt>
      <dd className={styles.value}>{value}</dd>
    </>
  )
}
