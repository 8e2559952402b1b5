/** Text to read and copy: requests, JSON, conditions. */

import { Button, makeStyles, mergeClasses, tokens } from '@fluentui/react-components'
import { CopyRegular } from '@fluentui/react-icons/svg/copy'
import { useState } from 'react'
import { appTexts } from '../texts/app.ts'

const useStyles = makeStyles({
  frame: { position: 'relative', minWidth: 0 },
  code: {
    margin: 0,
    padding: tokens.spacingHorizontalM,
    paddingRight: '48px',
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    lineHeight: tokens.lineHeightBase300,
    backgroundColor: tokens.colorNeutralBackground3,
    color: tokens.colorNeutralForeground1,
    borderRadius: tokens.borderRadiusMedium,
    overflow: 'auto',
    maxHeight: '60vh',
    whiteSpace: 'pre',
  },
  wrap: { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  copy: { position: 'absolute', top: tokens.spacingVerticalXS, right: tokens.spacingHorizontalXS },
})

export function CodeBlock({
  text,
  label,
  wrap = true,
}: {
  readonly text: string
  readonly label: string
  readonly wrap?: boolean
}) {
  const styles = useStyles()
  return (
    <div className={styles.frame}>
      <pre
        className={mergeClasses(styles.code, wrap && styles.wrap)}
        tabIndex={0}
        aria-label={label}
        role="region"
      >
        {text}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} />
      </div>
    </div>
  )
}

export function CopyButton({
  text,
  label = appTexts.copy,
}: {
  readonly text: string
  readonly label?: string
}) {
  const [copied, setCopied] = useState(false)
  return (
    <Button
      size="small"
      appearance="subtle"
      icon={<CopyRegular />}
      aria-label={copied ? appTexts.copied : label}
      title={copied ? appTexts.copied : label}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => setCopied(true))
      }}
    />
  )
}

export function asJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
