/**
 * The areas of the console, in the order of the menu. To add a view, add a line here and a route in `routes.tsx`.
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
import { appTexts } from '../texts/app.ts'

export interface Area {
  readonly path: string
  readonly title: string
  readonly icon: FluentIcon
}

export const areas: readonly Area[] = [
  { path: '/', title: appTexts.areas.home, icon: HomeRegular },
  { path: '/resources', title: appTexts.areas.resources, icon: BoxMultipleRegular },
  { path: '/access', title: appTexts.areas.access, icon: PeopleRegular },
  { path: '/deployments', title: appTexts.areas.deployments, icon: RocketRegular },
  { path: '/containers', title: appTexts.areas.containers, icon: CubeRegular },
  { path: '/migrations', title: appTexts.areas.migrations, icon: DatabaseArrowRightRegular },
  { path: '/sharing', title: appTexts.areas.sharing, icon: ShareRegular },
  { path: '/health', title: appTexts.areas.health, icon: HeartPulseRegular },
  { path: '/billing', title: appTexts.areas.billing, icon: MoneyRegular },
  { path: '/apis', title: appTexts.areas.apis, icon: PlugConnectedRegular },
  { path: '/business', title: appTexts.areas.business, icon: ReceiptRegular },
  { path: '/activity', title: appTexts.areas.activity, icon: HistoryRegular },
  { path: '/explorer', title: appTexts.areas.explorer, icon: BracesRegular },
]
