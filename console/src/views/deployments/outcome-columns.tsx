/** Columns that deployments and their steps share: state, time, duration. */

import { momentText, State } from '../../components/state.tsx'
import type { Column } from '../../components/table.tsx'
import { deploymentTexts } from '../../texts/work.ts'

interface Outcome {
  readonly properties: {
    readonly provisioningState?: string
    readonly timestamp?: string
    readonly duration?: string
  }
}

export const outcomeColumns: readonly Column<Outcome>[] = [
  {
    id: 'state',
    title: deploymentTexts.state,
    text: ({ properties }) => properties.provisioningState ?? '',
    show: ({ properties }) => <State value={properties.provisioningState} />,
  },
  {
    id: 'when',
    title: deploymentTexts.when,
    text: ({ properties }) => momentText(properties.timestamp),
    grow: 1.6,
    wideOnly: true,
  },
  {
    id: 'duration',
    title: deploymentTexts.duration,
    text: ({ properties }) => secondsText(properties.duration),
    wideOnly: true,
    numeric: true,
  },
]

/** `PT1.25S` → `1.3 s`. */
function secondsText(duration: string | undefined): string {
  const seconds = /PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?/.exec(duration ?? '')
  if (seconds === null) return ''
  const [, hours = '0', minutes = '0', rest = '0'] = seconds
  return `${(Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)).toFixed(1)} s`
}
