/** Text into HTML, safely: whatever is put into the template is escaped unless it is HTML already. */

export interface Html {
  readonly html: string
}

type Value = string | number | Html | readonly Html[] | undefined

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A tagged template. `undefined` is nothing; lists are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let result = strings[0] ?? ''
  values.forEach((value, i) => {
    result += render(value) + (strings[i + 1] ?? '')
  })
  return { html: result }
}

/** Text that is HTML, script or style of our own: never anything that came from outside. */
export function trusted(text: string): Html {
  return { html: text }
}

function render(value: Value): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return 'html' in value ? value.html : value.map((item) => item.html).join('')
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? '')
}
