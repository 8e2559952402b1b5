/** A browser for tests of forms: it follows redirects, keeps cookies, fills in and sends forms. */

import { setTimeout } from 'node:timers/promises'

interface Page {
  readonly url: string
  readonly html: string
}

/** Sends forms, with `fill` for the fields a person fills in, until a page has none. */
export async function walkForms(
  start: string,
  fill: Readonly<Record<string, string>>,
): Promise<Page> {
  const cookies = new Map<string, string>()
  let page = await open(cookies, start, undefined)
  for (let forms = 0; forms < 10; forms++) {
    const form = /<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(page.html)
    if (form === null) return page
    const target = new URL(plainText(form[1] ?? ''), page.url).href
    page = await open(cookies, target, fieldsOf(form[2] ?? '', fill))
  }
  throw new Error(`there is always one more form:\n${page.html}`)
}

function fieldsOf(form: string, fill: Readonly<Record<string, string>>): URLSearchParams {
  const fields = new URLSearchParams()
  let pressed = false
  for (const [tag] of form.matchAll(/<(?:input|button)\b[^>]*>/g)) {
    // One button is pressed: the first, which continues where others would cancel.
    if (tag.startsWith('<button') && pressed) continue
    pressed ||= tag.startsWith('<button')
    const name = attribute(tag, 'name')
    if (name === undefined || attribute(tag, 'type') === 'checkbox') continue
    fields.set(name, fill[name] ?? attribute(tag, 'value') ?? '')
  }
  return fields
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : plainText(value)
}

function plainText(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}

async function open(
  cookies: Map<string, string>,
  start: string,
  form: URLSearchParams | undefined,
): Promise<Page> {
  let url = start
  let body = form
  for (let hops = 0; hops < 20; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, origin: new URL(url).origin },
      ...(body === undefined ? {} : { body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const equals = pair.indexOf('=')
      cookies.set(pair.slice(0, equals), pair.slice(equals + 1))
    }
    if (response.status === 429) {
      // A person would try again.
      await response.text()
      await setTimeout(Number(response.headers.get('retry-after') ?? 1) * 1000)
      continue
    }
    const location = response.headers.get('location')
    const html = await response.text()
    if (location === null) return { url, html }
    url = new URL(location, url).href
    body = undefined
  }
  throw new Error(`${start} redirects without end`)
}
