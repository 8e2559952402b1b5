/**
 * A dialog with a form: fields, the refusal (at its field if the refusal names one), and buttons to send and
 * cancel.
 */

import {
  Button,
  Dialog,
  DialogActions,
  DialogBody,
  DialogContent,
  DialogSurface,
  DialogTitle,
  makeStyles,
  tokens,
} from '@fluentui/react-components'
import type { ReactNode } from 'react'
import type { ApiFailure } from '../api/client.ts'
import { appTexts, refusalTexts } from '../texts/app.ts'
import { Refusal } from './refusal.tsx'
import { useReturnFocus } from './return-focus.ts'

const useStyles = makeStyles({
  // A long word in a list of choices must not make a field wider than the dialog.
  fields: {
    display: 'grid',
    gap: tokens.spacingVerticalM,
    gridTemplateColumns: 'minmax(0, 1fr)',
    '& .fui-Field': { gridTemplateColumns: 'minmax(0, 1fr)' },
  },
})

export function FormDialog({
  title,
  submit,
  busy,
  ready = true,
  failure,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string
  /** The word on the button that sends the form; without one, there is only something to read. */
  readonly submit?: string
  readonly busy: boolean
  readonly ready?: boolean
  readonly failure: ApiFailure | null
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const styles = useStyles()
  useReturnFocus()
  return (
    <Dialog open onOpenChange={(_, { open }) => open || onClose()}>
      <DialogSurface>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (ready && !busy) onSubmit()
          }}
        >
          <DialogBody>
            <DialogTitle>{title}</DialogTitle>
            <DialogContent>
              <div className={styles.fields}>
                {children}
                {failure !== null && takenName(failure) === undefined && (
                  <Refusal failure={failure} />
                )}
              </div>
            </DialogContent>
            <DialogActions>
              <Button onClick={onClose}>
                {submit === undefined ? appTexts.close : appTexts.cancel}
              </Button>
              {submit !== undefined && (
                <Button appearance="primary" type="submit" disabled={busy || !ready}>
                  {submit}
                </Button>
              )}
            </DialogActions>
          </DialogBody>
        </form>
      </DialogSurface>
    </Dialog>
  )
}

/** Said at the name of what was to be created, when something has the name: it was not replaced. */
export function takenName(failure: ApiFailure | null): string | undefined {
  return failure?.status === 412 ? refusalTexts.taken : undefined
}

/** The problem of a refusal with a property, found by its `target`. */
export function problemAt(failure: ApiFailure | null, property: string): string | undefined {
  if (failure === null) return undefined
  const all = [failure.problem, ...(failure.problem.details ?? [])]
  const wanted = property.toLowerCase()
  return all.find(({ target }) => {
    const path = target
      ?.replace(/^[$/]\.?/, '')
      .replaceAll('/', '.')
      .toLowerCase()
    return path === wanted || path === `properties.${wanted}`
  })?.message
}
