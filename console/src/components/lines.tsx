/** Values over time as lines, with the newest value of each beside its name. */

import { makeStyles, Text, tokens } from '@fluentui/react-components'
import { chartTexts } from '../texts/app.ts'
import { type Point, runsOf } from './line-runs.ts'

const width = 600
const height = 120
/** The room around the lines, for the width of a dot. */
const margin = 4

const useStyles = makeStyles({
  chart: {
    width: '100%',
    height: '120px',
    backgroundColor: tokens.colorNeutralBackground2,
    borderRadius: tokens.borderRadiusMedium,
  },
  line: {
    fill: 'none',
    strokeWidth: '2px',
    vectorEffect: 'non-scaling-stroke',
    strokeLinecap: 'round',
  },
  scale: {
    display: 'flex',
    justifyContent: 'space-between',
    gap: tokens.spacingHorizontalM,
    color: tokens.colorNeutralForeground2,
  },
  legend: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalL, minWidth: 0 },
  key: {
    display: 'inline-flex',
    gap: tokens.spacingHorizontalXS,
    alignItems: 'center',
    minWidth: 0,
  },
  mark: { width: '12px', height: '3px', flexShrink: 0 },
  name: { overflowWrap: 'anywhere' },
})

const colors = [
  tokens.colorBrandStroke1,
  tokens.colorPaletteDarkOrangeBorderActive,
  tokens.colorPaletteBerryBorderActive,
  tokens.colorPaletteLightGreenBorderActive,
]
/** More lines than this cannot be told apart. */
const linesMax = colors.length

export interface Line {
  readonly name: string
  /** The oldest first. */
  readonly points: readonly Point[]
}

export function Lines({
  lines,
  label,
  textOf,
  time,
  gapMin = Number.POSITIVE_INFINITY,
}: {
  readonly lines: readonly Line[]
  readonly label: string
  /** The time that is drawn; from the first point to the last if left out. */
  readonly time?: readonly [from: number, until: number]
  /** Milliseconds between two points from which on nothing was measured between them: no line joins them. */
  readonly gapMin?: number
  readonly textOf: (value: number) => string
}) {
  const styles = useStyles()
  const measured = lines.filter(({ points }) => points.length > 0)
  const shown = measured.slice(0, linesMax)
  const all = shown.flatMap(({ points }) => points)
  if (all.length === 0) return null
  const times = time ?? all.map(([at]) => at)
  const first = Math.min(...times)
  const span = Math.max(Math.max(...times) - first, 1)
  const most = Math.max(...all.map(([, value]) => value), Number.MIN_VALUE)
  const placed = ([at, value]: Point): string =>
    `${(margin + ((at - first) / span) * (width - 2 * margin)).toFixed(1)},${(height - margin - (value / most) * (height - 2 * margin)).toFixed(1)}`
  const newest = shown.map(({ name, points }) => `${name} ${textOf(points.at(-1)?.[1] ?? 0)}`)
  return (
    <div>
      <div className={styles.scale}>
        <Text size={200}>{label}</Text>
        <Text size={200}>{chartTexts.range(textOf(0), textOf(most))}</Text>
      </div>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${newest.join(', ')}`}
      >
        {shown.map(({ name, points }, index) =>
          runsOf(points, gapMin).map((run) => (
            <polyline
              key={`${name} ${run[0]?.[0]}`}
              className={styles.line}
              // A single point is drawn as a dot.
              points={(run.length === 1 ? [...run, ...run] : run).map(placed).join(' ')}
              style={{ stroke: colors[index], ...(run.length === 1 && { strokeWidth: '6px' }) }}
            />
          )),
        )}
      </svg>
      <div className={styles.scale}>
        {[first, first + span].map((at) => (
          <Text key={at} size={200}>
            {new Date(at).toLocaleTimeString()}
          </Text>
        ))}
      </div>
      <div className={styles.legend} aria-hidden>
        {shown.map(({ name }, index) => (
          <span key={name} className={styles.key}>
            <span className={styles.mark} style={{ backgroundColor: colors[index] }} />
            <Text size={200} className={styles.name}>
              <bdi>{newest[index]}</bdi>
            </Text>
          </span>
        ))}
      </div>
      {measured.length > shown.length && (
        <Text size={200}>{chartTexts.notShown(measured.length - shown.length)}</Text>
      )}
    </div>
  )
}
