/** Maps addresses to views. A view is loaded when it is first opened. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { consoleBase } from '../api/place.ts'
import { Loading } from '../components/page.tsx'
import { Crashed, Frame, NotFound } from './frame.tsx'

const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NotFound })

/** Query parameters are texts. Each view reads those that it knows. */
type Search = Readonly<Record<string, string | undefined>>

function view<Name extends string>(
  path: string,
  load: () => Promise<Readonly<Record<Name, React.ComponentType>>>,
  name: Name,
) {
  return createRoute({
    getParentRoute: () => rootRoute,
    path,
    validateSearch: (search: Record<string, unknown>): Search =>
      Object.fromEntries(Object.entries(search).map(([key, value]) => [key, String(value)])),
    component: lazyRouteComponent(load, name),
  })
}

const routes = [
  view('/', () => import('../views/home/home.tsx'), 'Home'),
  view('/resources', () => import('../views/resources/resources.tsx'), 'Resources'),
  view('/resource/$', () => import('../views/resource/resource.tsx'), 'Resource'),
  view('/create', () => import('../views/write/create.tsx'), 'CreateResource'),
  view('/access', () => import('../views/access/access.tsx'), 'Access'),
  view('/deployments', () => import('../views/deployments/deployments.tsx'), 'Deployments'),
  view(
    '/deployments/new',
    () => import('../views/deployments/new-deployment.tsx'),
    'NewDeployment',
  ),
  view('/containers', () => import('../views/containers/containers.tsx'), 'Containers'),
  view('/migrations', () => import('../views/migrations/migrations.tsx'), 'Migrations'),
  view('/sharing', () => import('../views/sharing/sharing.tsx'), 'Sharing'),
  view('/health', () => import('../views/health/health.tsx'), 'Health'),
  view('/billing', () => import('../views/billing/billing.tsx'), 'Billing'),
  view('/apis', () => import('../views/apis/apis.tsx'), 'Apis'),
  view('/explorer', () => import('../views/explorer/explorer.tsx'), 'Explorer'),
  view('/business', () => import('../views/business/business.tsx'), 'Business'),
  view('/account', () => import('../views/account/account.tsx'), 'Account'),
  view('/activity', () => import('../views/activity/activity.tsx'), 'Activity'),
]

export function createAppRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren(routes),
    basepath: consoleBase.pathname,
    defaultPendingComponent: Loading,
    defaultErrorComponent: Crashed,
    // Ids contain characters that would be encoded otherwise. The address should look like the id in the API.
    pathParamsAllowedCharacters: ['@', ':', '$', ',', ';', '+', '='],
    // Texts are kept as they are, not as JSON.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(
        ([, value]) => value !== undefined && value !== '',
      )
      const text = new URLSearchParams(given as [string, string][]).toString()
      return text === '' ? '' : `?${text}`
    },
  })
}
