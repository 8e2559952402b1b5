/**
 * The differences, property by property, of a record of the audit trail or of a what-if. A sign says the same as
 * the colour.
 */

import { makeStyles, mergeClasses, Text, tokens } from '@fluentui/react-components'
import { activityTexts } from '../texts/activity.ts'

export interface Change {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

const useStyles = makeStyles({
  list: {
    listStyle: 'none',
    margin: 0,
    padding: 0,
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    lineHeight: tokens.lineHeightBase300,
    minWidth: 0,
  },
  line: {
    overflowWrap: 'anywhere',
    padding: `0 ${tokens.spacingHorizontalS}`,
    whiteSpace: 'pre-wrap',
  },
  gone: {
    backgroundColor: tokens.colorPaletteRedBackground1,
    color: tokens.colorPaletteRedForeground1,
  },
  come: {
    backgroundColor: tokens.colorPaletteGreenBackground1,
    color: tokens.colorPaletteGreenForeground1,
  },
})

export function Changes({
  changes,
  quiet = false,
}: {
  readonly changes: readonly Change[]
  /** Shows nothing when there is no difference. */
  readonly quiet?: boolean
}) {
  const styles = useStyles()
  if (changes.length === 0 && quiet) return null
  if (changes.length === 0) return <Text size={200}>{activityTexts.noChanges}</Text>
  return (
    <ul className={styles.list}>
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          {before !== undefined && (
            <div className={mergeClasses(styles.line, styles.gone)}>
              − {path}: {textOf(before)}
            </div>
          )}
          {after !== undefined && (
            <div className={mergeClasses(styles.line, styles.come)}>
              + {path}: {textOf(after)}
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
