/** The state of a resource as a coloured word, and moments in a form that a person reads. */

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
  'works',
  'ok',
  'connected',
  'reinstated',
]
const bad = [
  'failed',
  'unhealthy',
  'unavailable',
  'error',
  'terminated',
  'degraded',
  'pastdue',
  'critical',
  'errored',
  'revoked',
  'sourcedeleted',
]
const quiet = [
  'informational',
  'canceled',
  'stopped',
  'deleted',
  'disabled',
  'waiting',
  'not begun',
]

/** One word for each meaning. */
const words = { good: 'succeeded', bad: 'failed' } as const

export function State({
  value,
  meaning,
}: {
  readonly value: string | undefined
  /** Given where the word alone does not tell whether the state is good. */
  readonly meaning?: 'good' | 'bad'
}) {
  if (value === undefined || value === '') return null
  const word = meaning === undefined ? value.toLowerCase() : words[meaning]
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
