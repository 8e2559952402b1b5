/** The state of a thing as a word with a colour; moments as a person reads them. */

import { Badge } from '@fluentui/react-components'

const good = [
  'succeeded',
  'running',
  'enabled',
  'active',
  'registered',
  'available',
  'paid',
  'started',
  'accepted',
]
const bad = ['failed', 'unhealthy', 'unavailable', 'error', 'terminated', 'degraded', 'pastdue']
const quiet = ['canceled', 'stopped', 'deleted', 'disabled', 'waiting']

export function State({ value }: { readonly value: string | undefined }) {
  if (value === undefined || value === '') return null
  const word = value.toLowerCase()
  const color = good.includes(word)
    ? 'success'
    : bad.includes(word)
      ? 'danger'
      : quiet.includes(word)
        ? 'subtle'
        : 'warning'
  return (
    <Badge appearance="tint" color={color}>
      {value}
    </Badge>
  )
}

export function isBad(value: string | undefined): boolean {
  return bad.includes((value ?? '').toLowerCase())
}

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function momentText(value: string | undefined): string {
  const at = Date.parse(value ?? '')
  return Number.isNaN(at) ? '' : moments.format(at)
}
