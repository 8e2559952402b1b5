/** Values over time as lines, with the newest value of each beside its name, and the numbers as a table. */

import { makeStyles, Text, tokens } from '@fluentui/react-components'

const width = 600
const height = 120

const useStyles = makeStyles({
  chart: {
    width: '100%',
    height: '120px',
    backgroundColor: tokens.colorNeutralBackground2,
    borderRadius: tokens.borderRadiusMedium,
  },
  line: { fill: 'none', strokeWidth: '2px', vectorEffect: 'non-scaling-stroke' },
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
  /** Points with their time in milliseconds, the oldest first. */
  readonly points: readonly (readonly [at: number, value: number])[]
}

export function Lines({
  lines,
  label,
  textOf,
}: {
  readonly lines: readonly Line[]
  readonly label: string
  readonly textOf: (value: number) => string
}) {
  const styles = useStyles()
  const shown = lines.slice(0, linesMax)
  const all = shown.flatMap(({ points }) => points)
  if (all.length < 2) return null
  const times = all.map(([at]) => at)
  const first = Math.min(...times)
  const span = Math.max(Math.max(...times) - first, 1)
  const most = Math.max(...all.map(([, value]) => value), Number.MIN_VALUE)
  const placed = ([at, value]: readonly [number, number]): string =>
    `${(((at - first) / span) * width).toFixed(1)},${(height - 4 - (value / most) * (height - 8)).toFixed(1)}`
  const newest = shown.map(({ name, points }) => `${name} ${textOf(points.at(-1)?.[1] ?? 0)}`)
  return (
    <div>
      <Text size={200} block>
        {label}
      </Text>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${newest.join(', ')}`}
      >
        {shown.map(({ name, points }, index) => (
          <polyline
            key={name}
            className={styles.line}
            points={points.map(placed).join(' ')}
            style={{ stroke: colors[index] }}
          />
        ))}
      </svg>
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
    </div>
  )
}
