/** What the address says beside its path. Every state of a view that one may want to send to somebody stands there. */

import { useLocation, useRouter } from '@tanstack/react-router'
import { useGo } from '../components/app-link.tsx'

export function useSearch(): Readonly<Record<string, string | undefined>> {
  return useLocation().search as Readonly<Record<string, string | undefined>>
}

/**
 * Changes parts of the query; `undefined` takes one away. A change is a step that `back` takes back, unless `replace`. Changes are
 * to the address as it is then: two at one moment both count.
 */
export function useSetSearch() {
  const go = useGo()
  const { history } = useRouter()
  const { path } = useHere()
  return (
    changes: Readonly<Record<string, string | undefined>>,
    how?: { readonly replace: boolean },
  ): void => {
    const search = Object.fromEntries(new URLSearchParams(history.location.search))
    const merged = Object.entries({ ...search, ...changes })
    const given = merged.filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given as [string, string][]).toString()
    go(`${path}${text === '' ? '' : `?${text}`}`, how)
  }
}

/** Below `/console`. */
export function useHere() {
  const { pathname, search } = useLocation()
  return { path: pathname, search: search as Readonly<Record<string, string | undefined>> }
}
