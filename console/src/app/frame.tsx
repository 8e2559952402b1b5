/** The frame around every view: the areas at the left, search and person at the top, the drawer of requests. */

import {
  Button,
  Menu,
  MenuItem,
  MenuList,
  MenuPopover,
  MenuTrigger,
  MessageBar,
  MessageBarActions,
  MessageBarBody,
  makeStyles,
  mergeClasses,
  Text,
  tokens,
} from '@fluentui/react-components'
import { CodeRegular } from '@fluentui/react-icons/svg/code'
import { NavigationRegular } from '@fluentui/react-icons/svg/navigation'
import { PersonRegular } from '@fluentui/react-icons/svg/person'
import { SearchRegular } from '@fluentui/react-icons/svg/search'
import { WeatherMoonRegular } from '@fluentui/react-icons/svg/weather-moon'
import { useIsFetching } from '@tanstack/react-query'
import { type ErrorComponentProps, Outlet } from '@tanstack/react-router'
import { lazy, type Ref, Suspense, useEffect, useRef, useState } from 'react'
import { useLive } from '../api/live.ts'
import { useRequests } from '../api/requests.ts'
import { goToSignIn, goToSignOut, person } from '../api/session.ts'
import { AppLink, useAppHref, useGo } from '../components/app-link.tsx'
import { Page } from '../components/page.tsx'
import { accountTexts, appTexts } from '../texts/app.ts'
import { useHere } from './address.ts'
import { type Area, useAreas } from './areas.ts'
import { useLook } from './look.tsx'
import { Running } from './running.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { useSubscriptions } from './subscription.ts'

const RequestsDrawer = lazy(async () => ({
  default: (await import('./requests-drawer.tsx')).RequestsDrawer,
}))
const SearchDialog = lazy(async () => ({
  default: (await import('./search-dialog.tsx')).SearchDialog,
}))

const narrow = '@media (max-width: 900px)'

const useStyles = makeStyles({
  frame: { display: 'flex', flexDirection: 'column', height: '100dvh', minHeight: 0 },
  skip: {
    position: 'absolute',
    left: '-1000px',
    ':focus': { left: tokens.spacingHorizontalS, top: tokens.spacingVerticalS, zIndex: 10 },
    backgroundColor: tokens.colorNeutralBackground1,
    color: tokens.colorBrandForegroundLink,
    padding: tokens.spacingHorizontalS,
  },
  top: {
    display: 'flex',
    alignItems: 'center',
    gap: tokens.spacingHorizontalS,
    padding: `0 ${tokens.spacingHorizontalM}`,
    minHeight: '48px',
    borderBottom: `1px solid ${tokens.colorNeutralStroke2}`,
  },
  name: { marginRight: tokens.spacingHorizontalM, [narrow]: { display: 'none' } },
  menuButton: { display: 'none', [narrow]: { display: 'inline-flex' } },
  search: {
    flexGrow: 1,
    maxWidth: '520px',
    justifyContent: 'flex-start',
    fontWeight: tokens.fontWeightRegular,
    minWidth: 0,
    overflow: 'hidden',
    whiteSpace: 'nowrap',
  },
  space: { flexGrow: 1, [narrow]: { display: 'none' } },
  pick: { maxWidth: '220px', [narrow]: { display: 'none' } },
  running: { [narrow]: { display: 'none' } },
  runningBelow: { display: 'none', [narrow]: { display: 'inline-flex' } },
  pickBelow: {
    display: 'none',
    [narrow]: { display: 'grid', marginBottom: tokens.spacingVerticalS },
  },
  below: { display: 'flex', flexGrow: 1, minHeight: 0, position: 'relative' },
  nav: {
    width: '208px',
    flexShrink: 0,
    overflowY: 'auto',
    padding: tokens.spacingVerticalS,
    boxSizing: 'border-box',
    backgroundColor: tokens.colorNeutralBackground2,
    borderRight: `1px solid ${tokens.colorNeutralStroke2}`,
    [narrow]: { display: 'none' },
  },
  navOpen: {
    [narrow]: {
      display: 'block',
      position: 'absolute',
      inset: '0 auto 0 0',
      zIndex: 5,
      boxShadow: tokens.shadow28,
    },
  },
  list: { listStyle: 'none', margin: 0, padding: 0 },
  area: {
    display: 'flex',
    alignItems: 'center',
    gap: tokens.spacingHorizontalM,
    padding: `${tokens.spacingVerticalS} ${tokens.spacingHorizontalM}`,
    borderRadius: tokens.borderRadiusMedium,
    color: tokens.colorNeutralForeground1,
    textDecorationLine: 'none',
    ':hover': { backgroundColor: tokens.colorNeutralBackground1Hover },
    ':focus-visible': { outline: `2px solid ${tokens.colorStrokeFocus2}` },
  },
  here: {
    backgroundColor: tokens.colorNeutralBackground1Selected,
    fontWeight: tokens.fontWeightSemibold,
  },
  icon: { fontSize: '20px', display: 'block' },
  main: {
    flexGrow: 1,
    minWidth: 0,
    overflow: 'auto',
    display: 'flex',
    flexDirection: 'column',
    outline: 'none',
  },
})

export function Frame() {
  const styles = useStyles()
  const [menu, setMenu] = useState(false)
  const [drawer, setDrawer] = useState(false)
  const [search, setSearch] = useState(false)
  const { path } = useHere()
  const { shown: areas } = useAreas()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move closes the menu
  useEffect(() => setMenu(false), [path])
  const menuButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const close = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      setMenu(false)
      menuButton.current?.focus()
    }
    if (menu) addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [menu])
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      setSearch(true)
    }
    addEventListener('keydown', open)
    return () => removeEventListener('keydown', open)
  }, [])
  return (
    <div className={styles.frame}>
      <button type="button" className={styles.skip} onClick={focusContent}>
        {appTexts.skip}
      </button>
      <Top
        onMenu={() => setMenu(!menu)}
        menu={menu}
        menuButton={menuButton}
        onDrawer={() => setDrawer(true)}
        onSearch={() => setSearch(true)}
      />
      <div className={styles.below}>
        <nav
          className={mergeClasses(styles.nav, menu && styles.navOpen)}
          aria-label={appTexts.navigation}
        >
          <ScopePicker className={styles.pickBelow} />
          <Running className={styles.runningBelow} />
          <ul className={styles.list}>
            {areas.map((area) => (
              <li key={area.path}>
                <AreaLink area={area} here={isHere(area.path, path)} />
              </li>
            ))}
          </ul>
        </nav>
        <main id="content" tabIndex={-1} className={styles.main}>
          <ServerState />
          <Outlet />
        </main>
      </div>
      <Suspense>
        {drawer && <RequestsDrawer open onClose={() => setDrawer(false)} />}
        {search && <SearchDialog onClose={() => setSearch(false)} />}
      </Suspense>
    </div>
  )
}

/** A button, because the page has a base address: a link to a fragment would leave the page. */
function focusContent(): void {
  document.getElementById('content')?.focus()
}

function isHere(area: string, path: string): boolean {
  if (area === '/') return path === '/'
  return path.startsWith(area) || (area === '/resources' && path.startsWith('/resource'))
}

function AreaLink({ area, here }: { readonly area: Area; readonly here: boolean }) {
  const styles = useStyles()
  const { href, onClick } = useAppHref(area.path)
  const Icon = area.icon
  return (
    <a
      href={href}
      onClick={onClick}
      className={mergeClasses(styles.area, here && styles.here)}
      aria-current={here ? 'page' : undefined}
    >
      <Icon className={styles.icon} />
      {area.title}
    </a>
  )
}

interface TopProps {
  readonly menu: boolean
  readonly menuButton: Ref<HTMLButtonElement>
  readonly onMenu: () => void
  readonly onDrawer: () => void
  readonly onSearch: () => void
}

function Top({ menu, menuButton, onMenu, onDrawer, onSearch }: TopProps) {
  const styles = useStyles()
  const go = useGo()
  const { toggle } = useLook()
  const { current, isChosen, choose } = useSubscriptions()
  // The first one stays, also when another comes before it in the list.
  useEffect(() => {
    if (!isChosen && current !== undefined) choose(current.subscriptionId)
  })
  const who = person()
  return (
    <header className={styles.top}>
      <Button
        ref={menuButton}
        className={styles.menuButton}
        appearance="subtle"
        icon={<NavigationRegular />}
        aria-label={appTexts.menu}
        aria-expanded={menu}
        onClick={onMenu}
      />
      <Text weight="bold" className={styles.name}>
        {appTexts.name}
      </Text>
      <Button icon={<SearchRegular />} className={styles.search} onClick={onSearch}>
        {appTexts.search}
      </Button>
      <span className={styles.space} />
      <ScopePicker className={styles.pick} />
      <Running className={styles.running} />
      <Button
        appearance="subtle"
        icon={<CodeRegular />}
        aria-label={appTexts.requests}
        title={appTexts.requests}
        onClick={onDrawer}
      />
      <Button
        appearance="subtle"
        icon={<WeatherMoonRegular />}
        aria-label={appTexts.theme}
        title={appTexts.theme}
        onClick={toggle}
      />
      <Menu>
        <MenuTrigger disableButtonEnhancement>
          <Button
            appearance="subtle"
            icon={<PersonRegular />}
            aria-label={appTexts.person}
            title={who?.name ?? appTexts.person}
          />
        </MenuTrigger>
        <MenuPopover>
          <MenuList>
            <MenuItem disabled>{who?.name ?? ''}</MenuItem>
            <MenuItem onClick={() => go('/account')}>{accountTexts.title}</MenuItem>
            <MenuItem onClick={goToSignOut}>{appTexts.signOut}</MenuItem>
          </MenuList>
        </MenuPopover>
      </Menu>
    </header>
  )
}

/** Tells that the server is away or that the session has ended, judged by the last calls. */
function ServerState() {
  const records = useRequests()
  const { live, since } = useLive()
  useIsFetching()
  const { path, search } = useHere()
  const answered = records.filter(({ status }) => status !== undefined)
  const [latest] = answered
  if (person() === undefined) {
    const query = new URLSearchParams(search as Record<string, string>).toString()
    return (
      <MessageBar intent="warning" layout="multiline">
        <MessageBarBody>{appTexts.sessionOver}</MessageBarBody>
        <MessageBarActions>
          <Button onClick={() => goToSignIn(`${path}${query === '' ? '' : `?${query}`}`)}>
            {appTexts.signIn}
          </Button>
        </MessageBarActions>
      </MessageBar>
    )
  }
  const isAway = !live && since !== undefined
  if (latest?.status !== 0 && !isAway) return null
  const good = answered.find(({ status }) => status !== 0) ?? answered.at(-1)
  return (
    <MessageBar intent="warning" layout="multiline">
      <MessageBarBody>
        {appTexts.stale((isAway ? since : good?.at)?.toLocaleTimeString() ?? '')}
      </MessageBarBody>
    </MessageBar>
  )
}

export function NotFound() {
  return (
    <Page title={appTexts.notFound} lead={appTexts.notFoundWhy}>
      <AppLink to="/">{appTexts.goHome}</AppLink>
    </Page>
  )
}

/** A file that did not arrive is not fetched again by a page that failed with it, so the page is loaded anew. */
export function Crashed({ error }: ErrorComponentProps) {
  return (
    <Page title={appTexts.crashed} lead={error instanceof Error ? error.message : String(error)}>
      <div>
        <Button onClick={() => location.reload()}>{appTexts.again}</Button>
      </div>
    </Page>
  )
}
