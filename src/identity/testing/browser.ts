/** The parts of a browser that a sign-in needs: cookies with their paths, redirects, forms. For tests only. */

export interface Visit {
  readonly status: number
  /** The address where the visit ended. A redirect to another server is not followed. */
  readonly url: URL
  readonly headers: Headers
  readonly body: string
  /** What a form post from this page would send before the person touches it. */
  readonly fields: URLSearchParams
  /** Where the form would go. */
  readonly action: string
}

export interface Browser {
  open(address: string, headers?: Readonly<Record<string, string>>): Promise<Visit>
  /** Posts the page's form with these fields besides the hidden ones. */
  submit(page: Visit, fields: Readonly<Record<string, string>>): Promise<Visit>
  forgetCookies(): void
  readonly cookies: ReadonlyMap<string, { readonly value: string; readonly path: string }>
}

export function createBrowser(base: string): Browser {
  const cookies = new Map<string, { value: string; path: string }>()

  async function go(address: URL, init: RequestInit): Promise<Visit> {
    let url = address
    let request = init
    for (let hops = 0; hops < 20; hops += 1) {
      const headers = new Headers({ accept: 'text/html', ...request.headers })
      const cookie = [...cookies]
        .filter(([, { path }]) => url.pathname.startsWith(path))
        .map(([name, { value }]) => `${name}=${value}`)
      if (cookie.length > 0) headers.set('cookie', cookie.join('; '))
      const response = await fetch(url, { ...request, headers, redirect: 'manual' })
      const body = await response.text()
      for (const line of response.headers.getSetCookie()) remember(line)
      const location = response.headers.get('location')
      if (location === null) return visit(response, url, body)
      const next = new URL(location, url)
      // A fragment is the application's, and a visit to another place is not ours to make.
      if (
        next.origin !== new URL(base).origin ||
        next.hash !== '' ||
        next.pathname === '/signed-in'
      ) {
        return visit(response, next, body)
      }
      url = next
      request = {}
    }
    throw new Error('too many redirects')
  }

  function remember(line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const at = pair.indexOf('=')
    const name = pair.slice(0, at)
    const value = pair.slice(at + 1)
    const path = attributes.find((a) => a.toLowerCase().startsWith('path='))?.slice(5) ?? '/'
    const expired = attributes.some(
      (a) => /^expires=/i.test(a) && Date.parse(a.slice(8)) < Date.now(),
    )
    if (expired || value === '') cookies.delete(name)
    else cookies.set(name, { value, path })
  }

  return {
    cookies,
    open: (address, headers = {}) => go(new URL(address, base), { headers }),
    submit(page, fields) {
      const form = new URLSearchParams(page.fields)
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      return go(new URL(page.action, page.url), { method: 'POST', body: form })
    },
    forgetCookies: () => cookies.clear(),
  }
}

function visit(response: Response, url: URL, body: string): Visit {
  const fields = new URLSearchParams()
  for (const [, name = '', value = ''] of body.matchAll(
    /<input type="hidden" name="([^"]*)" value="([^"]*)"/g,
  )) {
    fields.set(name, unescapeHtml(value))
  }
  const action = unescapeHtml(/<form[^>]* action="([^"]*)"/.exec(body)?.[1] ?? '')
  return { status: response.status, url, headers: response.headers, body, fields, action }
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
