/**
 * The text of a template with its problems while somebody types. The template language is loaded when it is needed.
 */

import { Button, Field, makeStyles, Text, Textarea, tokens } from '@fluentui/react-components'
import { type RefObject, useDeferredValue, useEffect, useMemo, useState } from 'react'
import type { TemplateProblem } from '../../../../src/template/plan.ts'
import { deploymentTexts } from '../../texts/work.ts'

type Language = typeof import('./template-language.ts')

/** Problems shown of one list: the first correction often ends the rest. */
const mostShown = 20

const useStyles = makeStyles({
  code: {
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    '& textarea': { minHeight: '360px', maxHeight: 'none', fontFamily: tokens.fontFamilyMonospace },
  },
  list: { margin: 0, paddingLeft: tokens.spacingHorizontalL, overflowWrap: 'anywhere' },
  place: { minWidth: 0, padding: `0 ${tokens.spacingHorizontalXS}` },
})

interface Given {
  readonly value: string
  /** Why the text is no JSON. The template language is not asked then. */
  readonly problem: string | undefined
  readonly box: RefObject<HTMLTextAreaElement | null>
}

export function TemplateField({
  value,
  problem,
  box,
  onChange,
}: Given & { readonly onChange: (value: string) => void }) {
  const styles = useStyles()
  return (
    <Field label={deploymentTexts.template} required validationMessage={problem}>
      <Textarea
        className={styles.code}
        spellCheck={false}
        resize="vertical"
        textarea={{ ref: box }}
        value={value}
        onChange={(_, { value: typed }) => onChange(typed)}
      />
    </Field>
  )
}

/** Beside the text, so that the text does not move while somebody types. */
export function TemplateProblems({ value, problem, box }: Given) {
  const styles = useStyles()
  const { problems, hints } = useFindings(value, problem !== undefined)
  const goTo = (position: TemplateProblem): void => {
    const at = offsetOf(value, position)
    box.current?.focus()
    box.current?.setSelectionRange(at, at)
  }
  const lists = [
    [deploymentTexts.problems, problems],
    [deploymentTexts.hints, hints],
  ] as const
  return (
    <div aria-live="polite">
      {lists
        .filter(([, list]) => list.length > 0)
        .map(([title, list]) => (
          <section key={title} aria-label={title}>
            <Text weight="semibold">{title}</Text>
            <ul className={styles.list}>
              {list.slice(0, mostShown).map((one) => (
                <li key={`${one.path} ${one.line} ${one.column} ${one.message}`}>
                  <Button
                    size="small"
                    appearance="subtle"
                    className={styles.place}
                    onClick={() => goTo(one)}
                  >
                    {deploymentTexts.place(one.line, one.column)}
                  </Button>{' '}
                  {one.path}: {one.message}
                </li>
              ))}
            </ul>
            {list.length > mostShown && (
              <Text>{deploymentTexts.moreProblems(list.length - mostShown)}</Text>
            )}
          </section>
        ))}
    </div>
  )
}

const nothing = { problems: [], hints: [] }

/** Lags behind the typing if the template is long. */
function useFindings(text: string, isBroken: boolean): ReturnType<Language['findingsOf']> {
  const [language, setLanguage] = useState<Language>()
  useEffect(() => {
    let isGone = false
    const load = async (): Promise<void> => {
      const found = await import('./template-language.ts')
      if (!isGone) setLanguage(found)
    }
    void load()
    return () => {
      isGone = true
    }
  }, [])
  const calm = useDeferredValue(text)
  return useMemo(
    () => (language === undefined || isBroken ? nothing : language.findingsOf(calm)),
    [language, calm, isBroken],
  )
}

/** Lines and columns count from 1. */
function offsetOf(text: string, { line, column }: TemplateProblem): number {
  const above = text.split('\n').slice(0, Math.max(line - 1, 0))
  return above.reduce((sum, one) => sum + one.length + 1, 0) + Math.max(column - 1, 0)
}
