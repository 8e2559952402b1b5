/** Amounts as bars, each with its name and number beside it, so that the chart can be read as a table. */

import { makeStyles, mergeClasses, tokens } from '@fluentui/react-components'

const useStyles = makeStyles({
  chart: {
    display: 'grid',
    gridTemplateColumns: 'minmax(70px, max-content) 1fr max-content',
    gap: `${tokens.spacingVerticalXS} ${tokens.spacingHorizontalM}`,
    alignItems: 'center',
    margin: 0,
  },
  row: { display: 'contents' },
  name: { overflowWrap: 'anywhere', maxWidth: '40vw' },
  track: { display: 'block', minWidth: 0 },
  bar: {
    display: 'block',
    height: '16px',
    minWidth: '2px',
    backgroundColor: tokens.colorBrandBackground,
    borderRadius: tokens.borderRadiusSmall,
  },
  below: { backgroundColor: tokens.colorPaletteRedBackground3 },
  value: { textAlign: 'right', fontVariantNumeric: 'tabular-nums' },
})

export interface Bar {
  readonly name: string
  readonly value: number
  readonly text: string
}

export function Bars({ bars, label }: { readonly bars: readonly Bar[]; readonly label: string }) {
  const styles = useStyles()
  const most = Math.max(...bars.map(({ value }) => Math.abs(value)), Number.MIN_VALUE)
  return (
    <div role="table" aria-label={label} className={styles.chart}>
      {bars.map(({ name, value, text }) => (
        <div role="row" key={name} className={styles.row}>
          <span role="rowheader" className={styles.name}>
            <bdi>{name}</bdi>
          </span>
          <span role="cell" aria-hidden className={styles.track}>
            <span
              className={mergeClasses(styles.bar, value < 0 && styles.below)}
              style={{ width: `${(Math.abs(value) / most) * 100}%` }}
            />
          </span>
          <span role="cell" className={styles.value}>
            {text}
          </span>
        </div>
      ))}
    </div>
  )
}
