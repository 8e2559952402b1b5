/**
 * Extracts the text of a PDF that our library wrote: deflated streams, text as glyphs, and the glyphs' meanings.
 * Test support only.
 */

import { inflateSync } from 'node:zlib'

export function pdfText(bytes: Uint8Array): { readonly text: string; readonly pages: number } {
  const file = Buffer.from(bytes).toString('latin1')
  const objects = new Map<string, { readonly head: string; readonly stream: string }>()
  for (const [, id = '', content = ''] of file.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) {
    const [head = '', stream] = content.split(/\nstream\n/)
    const packed = stream?.replace(/\nendstream$/, '')
    const isDeflated = head.includes('/FlateDecode')
    const plain =
      packed !== undefined && isDeflated
        ? inflateSync(Buffer.from(packed, 'latin1')).toString('latin1')
        : (packed ?? '')
    objects.set(id, { head, stream: plain })
  }
  const fonts = new Map<string, ReadonlyMap<string, string>>()
  const heads = [...objects.values()]
  for (const { head } of heads) {
    for (const [, name = '', id = ''] of head.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, map = ''] = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id)?.head ?? '') ?? []
      const meanings = objects.get(map)?.stream
      if (meanings !== undefined) fonts.set(name, meaningsOf(meanings))
    }
  }
  const written = heads.flatMap(({ stream }) => {
    let font: ReadonlyMap<string, string> | undefined
    const lines: string[] = []
    for (const [, name, glyphs] of stream.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
      if (name !== undefined) font = fonts.get(name)
      else lines.push(textOf(glyphs ?? '', font))
    }
    return lines
  })
  const pages = heads.filter(({ head }) => /\/Type \/Page\b/.test(head)).length
  return { text: written.join('\n'), pages }
}

/** Ranges of glyphs, each glyph as UTF-16 in hexadecimal digits. */
function meaningsOf(stream: string): ReadonlyMap<string, string> {
  const meanings = new Map<string, string>()
  for (const [, first = '', list = ''] of stream.matchAll(/<(\w+)> <\w+> \[([^\]]*)\]/g)) {
    for (const [at, [, hex = '']] of [...list.matchAll(/<([^>]*)>/g)].entries()) {
      const units = hex.replaceAll(' ', '').match(/.{4}/g) ?? []
      const text = units.map((unit) => String.fromCharCode(Number.parseInt(unit, 16))).join('')
      meanings.set((Number.parseInt(first, 16) + at).toString(16).padStart(4, '0'), text)
    }
  }
  return meanings
}

function textOf(glyphs: string, font: ReadonlyMap<string, string> | undefined): string {
  return [...glyphs.matchAll(/<(\w+)>/g)]
    .flatMap(([, hex = '']) => hex.match(/.{4}/g) ?? [])
    .map((glyph) => font?.get(glyph) ?? '?')
    .join('')
}
