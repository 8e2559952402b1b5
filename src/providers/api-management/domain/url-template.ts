/** The placeholders of a URL template: `/pets/{petId}?limit={limit}`. */

/** Their names in order, or why the template cannot be parsed. */
type Placeholders =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly message: string }

export function placeholdersOf(template: string): Placeholders {
  const names: string[] = []
  let opened = -1
  for (let at = 0; at < template.length; at++) {
    const character = template[at]
    if (character === '{') {
      if (opened >= 0) return failed(`has "{" inside "{…}" at position ${at}`)
      opened = at
    } else if (character === '}') {
      if (opened < 0) return failed(`has "}" without "{" at position ${at}`)
      const name = placeholderName(template.slice(opened + 1, at))
      if (name === '') return failed(`has a placeholder without a name at position ${opened}`)
      names.push(name)
      opened = -1
    }
  }
  return opened < 0 ? { ok: true, names } : failed(`has "{" without "}" at position ${opened}`)
}

/** `*rest` takes the rest of a path, `kind=dog` has a default; the name is the same without. */
export function placeholderName(text: string): string {
  const bare = text.startsWith('*') ? text.slice(1) : text
  const equals = bare.indexOf('=')
  return (equals < 0 ? bare : bare.slice(0, equals)).trim()
}

function failed(message: string): Placeholders {
  return { ok: false, message }
}
