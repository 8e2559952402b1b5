/** The frame of a view: its path, its title, its actions. Sets the title of the window. */

import {
  Breadcrumb,
  BreadcrumbDivider,
  BreadcrumbItem,
  makeStyles,
  Spinner,
  Text,
  Title2,
  tokens,
} from '@fluentui/react-components'
import { Fragment, type ReactNode, useEffect } from 'react'
import { appTexts } from '../texts/app.ts'
import { AppLink } from './app-link.tsx'

const useStyles = makeStyles({
  page: {
    display: 'flex',
    flexDirection: 'column',
    gap: tokens.spacingVerticalL,
    padding: `${tokens.spacingVerticalL} ${tokens.spacingHorizontalXXL}`,
    '@media (max-width: 600px)': {
      padding: `${tokens.spacingVerticalM} ${tokens.spacingHorizontalM}`,
    },
    minWidth: 0,
    minHeight: 0,
    flexGrow: 1,
    boxSizing: 'border-box',
    // Fields are as wide as their column, however long their choices are.
    '& .fui-Field': { gridTemplateColumns: 'minmax(0, 1fr)' },
    '& .fui-Input, & .fui-Select, & .fui-Select__select, & .fui-Input__input': { minWidth: 0 },
  },
  header: {
    display: 'flex',
    flexWrap: 'wrap',
    gap: tokens.spacingHorizontalM,
    alignItems: 'center',
  },
  heading: { flexGrow: 1, minWidth: 0 },
  title: { overflowWrap: 'anywhere', display: 'block', margin: 0 },
  soft: { color: tokens.colorNeutralForeground2, overflowWrap: 'anywhere' },
  actions: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS },
  crumbs: {
    marginLeft: `calc(-1 * ${tokens.spacingHorizontalXS})`,
    // Lines are as far apart as fingers need.
    '& ol': { flexWrap: 'wrap', rowGap: tokens.spacingVerticalSNudge },
    '& li': { minWidth: 0 },
    '& a': { overflowWrap: 'anywhere' },
  },
})

export interface Crumb {
  readonly title: string
  readonly to: string
}

export function Page({
  title,
  lead,
  crumbs = [],
  actions,
  children,
}: {
  readonly title: string
  readonly lead?: ReactNode
  readonly crumbs?: readonly Crumb[]
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  const styles = useStyles()
  useEffect(() => {
    document.title = `${title} · ${appTexts.name}`
  }, [title])
  return (
    <div className={styles.page}>
      {crumbs.length > 0 && (
        <Breadcrumb size="small" className={styles.crumbs}>
          {crumbs.map((crumb, index) => (
            <Fragment key={crumb.to}>
              {index > 0 && <BreadcrumbDivider />}
              <BreadcrumbItem>
                <AppLink to={crumb.to}>{crumb.title}</AppLink>
              </BreadcrumbItem>
            </Fragment>
          ))}
        </Breadcrumb>
      )}
      <div className={styles.header}>
        <div className={styles.heading}>
          <Title2 as="h1" className={styles.title}>
            {title}
          </Title2>
          {lead !== undefined && (
            <Text as="span" className={styles.soft}>
              {lead}
            </Text>
          )}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  )
}

export function Loading() {
  return <Spinner label={appTexts.loading} aria-label={appTexts.loading} delay={200} />
}
