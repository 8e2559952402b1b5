/**
 * The steps of a deployment and their dependencies, drawn from left to right. The table below has their numbers.
 */

import { makeStyles, mergeClasses, Text, tokens } from '@fluentui/react-components'
import { shortId } from '../../api/ids.ts'
import { plainType } from '../../api/place.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { State } from '../../components/state.tsx'
import { deploymentTexts } from '../../texts/work.ts'
import { type Placed, placeNodes } from './graph-layout.ts'

export interface GraphStep {
  readonly id: string
  readonly type: string
  readonly dependsOn: readonly string[]
  /** Undefined if the step has not begun. */
  readonly state: string | undefined
}

/** A graph of more steps cannot be read; the table has all of them. */
const stepsMax = 300
const width = 204
const height = 84
const columnGap = 40
const rowGap = 16
const margin = 4

const useStyles = makeStyles({
  scroll: {
    position: 'relative',
    overflow: 'auto',
    maxHeight: '480px',
    minWidth: 0,
    borderRadius: tokens.borderRadiusMedium,
    backgroundColor: tokens.colorNeutralBackground2,
  },
  steps: { position: 'relative', listStyle: 'none', margin: 0, padding: 0 },
  lines: { position: 'absolute', top: 0, left: 0 },
  line: { fill: 'none', stroke: tokens.colorNeutralStrokeAccessible, strokeWidth: '1.5px' },
  step: {
    position: 'absolute',
    boxSizing: 'border-box',
    width: `${width}px`,
    height: `${height}px`,
    display: 'grid',
    alignContent: 'center',
    justifyItems: 'start',
    gap: '2px',
    gridTemplateColumns: 'minmax(0, 1fr)',
    padding: `0 ${tokens.spacingHorizontalM}`,
    backgroundColor: tokens.colorNeutralBackground1,
    border: `1px solid ${tokens.colorNeutralStroke1}`,
    borderLeftWidth: '4px',
    borderRadius: tokens.borderRadiusMedium,
  },
  open: { borderLeftColor: tokens.colorNeutralStrokeAccessible, borderLeftStyle: 'dashed' },
  running: { borderLeftColor: tokens.colorPaletteYellowBorderActive },
  succeeded: { borderLeftColor: tokens.colorPaletteGreenBorderActive },
  failed: { borderLeftColor: tokens.colorPaletteRedBorderActive },
  cut: {
    maxWidth: '100%',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
  },
  hidden: {
    position: 'absolute',
    width: '1px',
    height: '1px',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
  },
})

export function DeploymentGraph({
  steps,
  isRunning,
}: {
  readonly steps: readonly GraphStep[]
  readonly isRunning: boolean
}) {
  const styles = useStyles()
  if (steps.length < 2) return null
  if (steps.length > stepsMax) return <Text>{deploymentTexts.graphTooLarge(steps.length)}</Text>
  const byId = new Map(steps.map((step) => [step.id, step]))
  const placed = placeNodes(steps)
  const places = new Map(placed.map((one) => [one.id, one]))
  const size = {
    width: Math.max(...placed.map(leftOf)) + width + margin,
    height: Math.max(...placed.map(topOf)) + height + margin,
  }
  const looks: Readonly<Record<string, string>> = {
    Running: styles.running,
    Succeeded: styles.succeeded,
    Failed: styles.failed,
  }
  return (
    <div className={styles.scroll} role="region" tabIndex={0} aria-label={deploymentTexts.graph}>
      <ol className={styles.steps} style={size}>
        {placed.map((place) => {
          const { id, type, state } = byId.get(place.id) as GraphStep
          const isDeployment = plainType(type).toLowerCase() === 'resources/deployments'
          return (
            <li
              key={id}
              className={mergeClasses(styles.step, looks[state ?? ''] ?? styles.open)}
              style={{ left: leftOf(place), top: topOf(place) }}
            >
              <span className={styles.cut} title={id}>
                <AppLink to={resourcePath(id, isDeployment ? 'steps' : undefined)}>
                  <bdi>{shortId(id)}</bdi>
                </AppLink>
              </span>
              <Text size={200} className={styles.cut} title={type}>
                {plainType(type).replace(/^[^/]*\//, '')}
              </Text>
              <State value={state ?? (isRunning ? 'Waiting' : deploymentTexts.notBegun)} />
              {place.dependsOn.length > 0 && (
                <span className={styles.hidden}>
                  {deploymentTexts.after(place.dependsOn.map(shortId).join(', '))}
                </span>
              )}
            </li>
          )
        })}
      </ol>
      <svg className={styles.lines} {...size} aria-hidden>
        {placed.flatMap((place) =>
          place.dependsOn.flatMap((id) => {
            const from = places.get(id)
            return from === undefined ? (
              []
            ) : (
              <path key={`${id} ${place.id}`} className={styles.line} d={lineOf(from, place)} />
            )
          }),
        )}
      </svg>
    </div>
  )
}

function leftOf({ column }: Placed): number {
  return margin + column * (width + columnGap)
}

function topOf({ row }: Placed): number {
  return margin + row * (height + rowGap)
}

function lineOf(from: Placed, to: Placed): string {
  const [x1, y1] = [leftOf(from) + width, topOf(from) + height / 2]
  const [x2, y2] = [leftOf(to), topOf(to) + height / 2]
  const bend = columnGap / 2
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}
