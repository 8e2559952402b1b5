/**
 * One assignment as a path: the principal, the group, the role, where it was assigned, what it reaches, and where
 * it ends.
 */

import { makeStyles, mergeClasses, tokens } from '@fluentui/react-components'
import { scopesAbove, shortId } from '../api/ids.ts'
import { pathTexts } from '../texts/access.ts'

export interface AccessPathProps {
  readonly who: string
  /** The group that has the assignment; undefined if the principal has it directly. */
  readonly group?: string | undefined
  readonly role: string
  /** The scope of the assignment. */
  readonly given: string
  /** The scope of the wanted action. */
  readonly wanted: string
  readonly action: string
  readonly outcome: 'Allowed' | 'NotAllowed' | 'Conditional'
  /** Why the path ends there, if the action is not allowed. */
  readonly reason?: string | undefined
}

interface Stop {
  readonly what: string
  readonly text: string
}

const useStyles = makeStyles({
  path: {
    listStyle: 'none',
    margin: 0,
    padding: 0,
    display: 'flex',
    flexWrap: 'wrap',
    rowGap: tokens.spacingVerticalS,
    alignItems: 'stretch',
  },
  stop: {
    display: 'flex',
    alignItems: 'center',
    minWidth: 0,
    maxWidth: '100%',
    ':not(:first-child)::before': {
      content: '"→"',
      padding: `0 ${tokens.spacingHorizontalXS}`,
      color: tokens.colorNeutralForeground3,
    },
  },
  box: {
    display: 'grid',
    gridTemplateColumns: 'minmax(0, 1fr)',
    minWidth: 0,
    padding: `${tokens.spacingVerticalXXS} ${tokens.spacingHorizontalS}`,
    border: `1px solid ${tokens.colorNeutralStroke1}`,
    borderRadius: tokens.borderRadiusMedium,
    overflowWrap: 'anywhere',
  },
  what: { fontSize: tokens.fontSizeBase100, color: tokens.colorNeutralForeground2 },
  good: {
    backgroundColor: tokens.colorPaletteGreenBackground1,
    color: tokens.colorPaletteGreenForeground1,
    border: `1px solid ${tokens.colorPaletteGreenBorder2}`,
  },
  bad: {
    backgroundColor: tokens.colorPaletteRedBackground1,
    color: tokens.colorPaletteRedForeground1,
    border: `1px solid ${tokens.colorPaletteRedBorder2}`,
  },
  open: { border: `1px dashed ${tokens.colorNeutralStroke1}` },
})

export function AccessPath(props: AccessPathProps) {
  const styles = useStyles()
  const { outcome, reason, who, role } = props
  const look = { Allowed: styles.good, NotAllowed: styles.bad, Conditional: styles.open }[outcome]
  return (
    <ol className={styles.path} aria-label={pathTexts.of(who, role)}>
      {stopsOf(props).map(({ what, text }) => (
        <li key={`${what} ${text}`} className={styles.stop}>
          <span className={styles.box}>
            <span className={styles.what}>{what}</span>
            <bdi>{text}</bdi>
          </span>
        </li>
      ))}
      <li className={styles.stop}>
        <span className={mergeClasses(styles.box, look)}>
          <strong>{pathTexts.outcomes[outcome]}</strong>
          {outcome !== 'Allowed' && reason !== undefined && <span>{reason}</span>}
        </span>
      </li>
    </ol>
  )
}

/** Goes down from the scope of the assignment as long as both scopes agree. */
function stopsOf({ who, group, role, given, wanted, action }: AccessPathProps): readonly Stop[] {
  const below = [...scopesAbove(wanted), wanted].filter(
    (scope) => isAbove(given, scope) && scope.length > given.length,
  )
  return [
    { what: pathTexts.who, text: who },
    ...(group === undefined ? [] : [{ what: pathTexts.group, text: group }]),
    { what: pathTexts.role, text: role },
    { what: pathTexts.given, text: shortId(given) },
    ...below.map((scope) => ({ what: pathTexts.reaches, text: shortId(scope) })),
    { what: pathTexts.action, text: action },
  ]
}

function isAbove(scope: string, below: string): boolean {
  const start = scope === '/' ? '/' : `${scope}/`.toLowerCase()
  return below.toLowerCase().startsWith(start)
}
