/** Starts the console: signs in silently where the browser has a session, else leads to the sign-in. */

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { followChanges } from './api/live.ts'
import { consoleBase } from './api/place.ts'
import { isRetried, retryDelay } from './api/retry.ts'
import { accessToken, goToSignIn } from './api/session.ts'
import { Look } from './app/look.tsx'
import { createAppRouter } from './app/routes.tsx'
import { NoAnswer, SignedOut } from './app/signed-out.tsx'

/** Milliseconds between two requests to a server that does not answer. */
const firstDelay = 1_000
const longestDelay = 10_000

const root = createRoot(document.getElementById('root') ?? document.body)

/** Addresses below `/console`, with their query. */
function ownPath(): string {
  return `/${location.pathname.slice(consoleBase.pathname.length)}${location.search}`
}

async function start(): Promise<void> {
  const here = ownPath()
  const isBack = here.startsWith('/signed-in')
  const back = new URLSearchParams(location.search)
  if (isBack && back.has('error')) return show(<SignedOut code={back.get('error')} />)
  const token = await firstToken()
  if (token === undefined) {
    // The sign-in came back without a session. Going there again would loop.
    if (isBack) return show(<SignedOut code={null} />)
    return goToSignIn(here)
  }
  if (isBack)
    history.replaceState(null, '', `${consoleBase.pathname}${returnPath(back.get('state'))}`)
  const router = createAppRouter()
  followChanges(cache)
  show(<RouterProvider router={router} />)
}

/** Asked for until the server answers: without an answer nothing could be shown, and a blank page helps nobody. */
async function firstToken(): Promise<string | undefined> {
  for (let delay = firstDelay; ; delay = Math.min(delay * 2, longestDelay)) {
    try {
      return await accessToken()
    } catch {
      // The browser’s own errors say no more than that no answer came.
      show(<NoAnswer />)
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

/** The address that was asked for before the sign-in. Only addresses of this console are taken. */
function returnPath(state: string | null): string {
  const target = URL.parse(`.${state ?? '/'}`, consoleBase)
  if (target?.origin !== consoleBase.origin) return ''
  if (!target.pathname.startsWith(consoleBase.pathname)) return ''
  return `${target.pathname.slice(consoleBase.pathname.length)}${target.search}`
}

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: isRetried,
      retryDelay,
    },
  },
})

function show(content: React.ReactNode): void {
  root.render(
    <StrictMode>
      <QueryClientProvider client={cache}>
        <Look>{content}</Look>
      </QueryClientProvider>
    </StrictMode>,
  )
}

// A page that the browser kept comes back with what it showed, also after its person has signed out.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

void start()
