/** A text that names commands and values between backticks, as descriptions of the API do: they are drawn as code. */

import { makeStyles, tokens } from '@fluentui/react-components'

const useStyles = makeStyles({
  code: {
    fontFamily: tokens.fontFamilyMonospace,
    backgroundColor: tokens.colorNeutralBackground3,
    borderRadius: tokens.borderRadiusSmall,
    padding: `0 ${tokens.spacingHorizontalXXS}`,
    overflowWrap: 'anywhere',
  },
})

export function Prose({ text }: { readonly text: string }) {
  const styles = useStyles()
  // A group of the pattern is part of the result: every second one stood between backticks.
  return text.split(/`([^`]+)`/).map((one, index) =>
    index % 2 === 0 ? (
      one
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
      <code key={index} className={styles.code}>
        {one}
      </code>
    ),
  )
}
