/** Builds a condition by clicks: which roles somebody may assign, and to whom. */

import { Checkbox, makeStyles, Text, tokens } from '@fluentui/react-components'
import { conditionTexts } from '../../texts/access.ts'
import type { Clicked } from './condition.ts'
import type { Member } from './members.tsx'

const useStyles = makeStyles({
  block: { display: 'grid', gap: tokens.spacingVerticalXS },
  group: { border: 'none', margin: 0, padding: 0, minWidth: 0 },
  legend: { padding: 0, fontWeight: tokens.fontWeightSemibold },
  choices: { display: 'flex', flexWrap: 'wrap', maxHeight: '132px', overflowY: 'auto' },
})

export function ConditionBuilder({
  roles,
  members,
  clicked,
  onClick,
}: {
  readonly roles: readonly {
    readonly name: string
    readonly properties: { readonly roleName: string }
  }[]
  readonly members: readonly Member[]
  readonly clicked: Clicked
  readonly onClick: (clicked: Clicked) => void
}) {
  const styles = useStyles()
  return (
    <details>
      <summary>{conditionTexts.title}</summary>
      <div className={styles.block}>
        <Text size={200}>{conditionTexts.lead}</Text>
        <Choices
          title={conditionTexts.roles}
          choices={roles.map(({ name, properties }) => [name, properties.roleName])}
          chosen={clicked.roles}
          onChange={(next) => onClick({ ...clicked, roles: next })}
        />
        <Choices
          title={conditionTexts.kinds}
          choices={Object.entries(conditionTexts.kindNames)}
          chosen={clicked.kinds}
          onChange={(next) => onClick({ ...clicked, kinds: next })}
        />
        <Choices
          title={conditionTexts.people}
          choices={members.map(({ id, displayName }) => [id, displayName])}
          chosen={clicked.people}
          onChange={(next) => onClick({ ...clicked, people: next })}
        />
      </div>
    </details>
  )
}

function Choices({
  title,
  choices,
  chosen,
  onChange,
}: {
  readonly title: string
  readonly choices: readonly (readonly [value: string, name: string])[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) {
  const styles = useStyles()
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>{title}</legend>
      <div className={styles.choices}>
        {choices.map(([value, name]) => (
          <Checkbox
            key={value}
            label={name}
            checked={chosen.includes(value)}
            onChange={(_, { checked }) =>
              onChange(
                checked === true ? [...chosen, value] : chosen.filter((one) => one !== value),
              )
            }
          />
        ))}
      </div>
    </fieldset>
  )
}
