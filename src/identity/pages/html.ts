/** Puts text safely into HTML. Every value in the template is escaped unless it is HTML already. */

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

/** A tagged template. `undefined` becomes nothing; lists are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let result = strings[0] ?? ''
  values.forEach((value, i) => {
    result += render(value) + (strings[i + 1] ?? '')
  })
  return { html: result }
}

/** Marks our own HTML, script or style as safe. Never use it for text that came from outside. */
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
