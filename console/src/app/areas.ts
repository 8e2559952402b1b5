/**
 * The areas of the console, in the order of the menu, and which of them are shown to whom. To add a view, add a line here
 * and a route in `routes.tsx`.
 */

import type { FluentIcon } from '@fluentui/react-icons'
import { BoxMultipleRegular } from '@fluentui/react-icons/svg/box-multiple'
import { BracesRegular } from '@fluentui/react-icons/svg/braces'
import { CubeRegular } from '@fluentui/react-icons/svg/cube'
import { DatabaseArrowRightRegular } from '@fluentui/react-icons/svg/database-arrow-right'
import { HeartPulseRegular } from '@fluentui/react-icons/svg/heart-pulse'
import { HistoryRegular } from '@fluentui/react-icons/svg/history'
import { HomeRegular } from '@fluentui/react-icons/svg/home'
import { MoneyRegular } from '@fluentui/react-icons/svg/money'
import { PeopleRegular } from '@fluentui/react-icons/svg/people'
import { PlugConnectedRegular } from '@fluentui/react-icons/svg/plug-connected'
import { ReceiptRegular } from '@fluentui/react-icons/svg/receipt'
import { RocketRegular } from '@fluentui/react-icons/svg/rocket'
import { ShareRegular } from '@fluentui/react-icons/svg/share'
import { useEffect } from 'react'
import { useGet } from '../api/queries.ts'
import { appTexts } from '../texts/app.ts'
import { useOwnPreference } from './preferences.ts'
import { keepFor, type Subject, useRights } from './rights.ts'
import { useSubscriptions } from './subscription.ts'

type Need = Subject | 'subscription' | 'company'

export interface Area {
  readonly path: string
  readonly title: string
  readonly icon: FluentIcon
  /** Shown to whoever has one of these; left out: to everybody. `rights.ts` says what most of them are. */
  readonly needs?: readonly Need[]
}

const areas: readonly Area[] = [
  { path: '/', title: appTexts.areas.home, icon: HomeRegular },
  {
    path: '/resources',
    title: appTexts.areas.resources,
    icon: BoxMultipleRegular,
    needs: ['subscription'],
  },
  {
    path: '/access',
    title: appTexts.areas.access,
    icon: PeopleRegular,
    needs: ['subscription', 'people'],
  },
  {
    path: '/deployments',
    title: appTexts.areas.deployments,
    icon: RocketRegular,
    needs: ['subscription'],
  },
  {
    path: '/containers',
    title: appTexts.areas.containers,
    icon: CubeRegular,
    needs: ['subscription'],
  },
  {
    path: '/migrations',
    title: appTexts.areas.migrations,
    icon: DatabaseArrowRightRegular,
    needs: ['subscription'],
  },
  { path: '/sharing', title: appTexts.areas.sharing, icon: ShareRegular },
  { path: '/health', title: appTexts.areas.health, icon: HeartPulseRegular, needs: ['health'] },
  { path: '/billing', title: appTexts.areas.billing, icon: MoneyRegular, needs: ['billing'] },
  {
    path: '/apis',
    title: appTexts.areas.apis,
    icon: PlugConnectedRegular,
    needs: ['subscription'],
  },
  {
    path: '/business',
    title: appTexts.areas.business,
    icon: ReceiptRegular,
    needs: ['business', 'company'],
  },
  { path: '/activity', title: appTexts.areas.activity, icon: HistoryRegular, needs: ['activity'] },
  { path: '/explorer', title: appTexts.areas.explorer, icon: BracesRegular },
]

/** Whether the person may read a company of the business application, which has rights of its own. */
function useHasCompany(enabled: boolean): boolean | undefined {
  const found = useGet<{ readonly value: readonly unknown[] }>(
    '/api/v2.0/companies',
    { $top: '1' },
    { enabled, live: false, keepFor },
  )
  if (!enabled) return false
  return found.isLoading ? undefined : found.data === undefined || found.data.value.length > 0
}

/** The areas that have something for this person, and those that would be refused. Until the server has said it, those of the last time. */
export function useAreas() {
  const rights = useRights()
  const { current, loading } = useSubscriptions()
  const [kept, keep] = useOwnPreference('areas', '')
  const isAdministrator = rights.may('business')
  const hasCompany = useHasCompany(rights.known && !isAdministrator)
  const isKnown = rights.known && !loading && hasCompany !== undefined
  const has = (need: Need): boolean =>
    need === 'subscription'
      ? current !== undefined
      : need === 'company'
        ? hasCompany === true
        : rights.may(need)
  const keptPaths = kept.split(' ')
  const shown = areas.filter(
    ({ path, needs = [] }) =>
      needs.length === 0 || (isKnown ? needs.some(has) : keptPaths.includes(path)),
  )
  const paths = shown.map(({ path }) => path).join(' ')
  useEffect(() => {
    if (isKnown && paths !== kept) keep(paths)
  })
  const leftOut = isKnown ? areas.filter((one) => !shown.includes(one)) : []
  return { shown, leftOut }
}
