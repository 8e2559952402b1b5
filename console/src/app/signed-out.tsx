/** Shown when a sign-in was cancelled or refused, and while the server does not answer at the beginning. */

import { Button, makeStyles, Text, Title2, tokens } from '@fluentui/react-components'
import { goToSignIn } from '../api/session.ts'
import { appTexts, refusalTexts } from '../texts/app.ts'

const useStyles = makeStyles({
  page: {
    display: 'grid',
    gap: tokens.spacingVerticalL,
    justifyItems: 'start',
    maxWidth: '30rem',
    margin: '12vh auto',
    padding: tokens.spacingHorizontalL,
  },
})

export function NoAnswer() {
  const styles = useStyles()
  return (
    <main className={styles.page}>
      <Title2 as="h1">{refusalTexts.title(0)}</Title2>
      <Text role="status">{appTexts.tryingAgain}</Text>
    </main>
  )
}

/** `code` comes from the address, which anybody may have written. The description in the address is not shown. */
export function SignedOut({ code }: { readonly code: string | null }) {
  const styles = useStyles()
  return (
    <main className={styles.page}>
      <Title2 as="h1">{appTexts.signedOut}</Title2>
      <Text>{code === 'access_denied' ? appTexts.signInStopped : appTexts.signedOutWhy}</Text>
      <Button appearance="primary" onClick={() => goToSignIn('/')}>
        {appTexts.signIn}
      </Button>
    </main>
  )
}
