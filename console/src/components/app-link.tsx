/** A link inside the console in the style of the design system. */

import { Link as FluentLink } from '@fluentui/react-components'
import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'

/** `to` is an address below `/console`, which may have a query. */
export function AppLink({
  to,
  children,
  inline,
  title,
  tabIndex,
}: {
  readonly to: string
  readonly children: ReactNode
  readonly inline?: boolean
  readonly title?: string
  readonly tabIndex?: number
}) {
  const { href, onClick } = useAppHref(to)
  return (
    <FluentLink href={href} onClick={onClick} inline={inline} title={title} tabIndex={tabIndex}>
      {children}
    </FluentLink>
  )
}

/** For anything that can be an anchor: a real address, and a click that stays inside the page. */
export function useAppHref(to: string) {
  const router = useRouter()
  return {
    href: `${router.basepath.replace(/\/$/, '')}${to}`,
    onClick: (event: MouseEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return
      if (event.button !== 0) return
      event.preventDefault()
      router.history.push(`${router.basepath.replace(/\/$/, '')}${to}`)
    },
  }
}

export function useGo(): (to: string, how?: { readonly replace: boolean }) => void {
  const router = useRouter()
  return (to, how) => {
    const address = `${router.basepath.replace(/\/$/, '')}${to}`
    if (how?.replace === true) router.history.replace(address)
    else router.history.push(address)
  }
}

/** The address of a resource's page. */
export function resourcePath(id: string, view?: string): string {
  return `/resource${id}${view === undefined ? '' : `?view=${view}`}`
}
