/** Reports: text from the source is shown as text, never as markup. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportPage } from './commands/migration/report.ts'

const hostile = [
  '"<img src=https://evil.example/x>"',
  '[Approve](https://evil.example)',
  '![x](https://evil.example/track.png)',
  '# Verified: checksums',
  '<!-- hidden',
  '`` ` ``',
  'a|b',
  '\\|',
]

test('names and words of the source stand in code spans', () => {
  for (const text of hostile) {
    const report = {
      name: text,
      source: { address: text, version: text },
      target: { address: text, version: text },
      databases: [
        {
          name: text,
          message: text,
          leftOut: [text],
          tables: [{ name: `public.${text}`, rows: 1 }],
        },
      ],
    }
    // Everything outside of code spans. By the format, a run of backticks ends at the next run of the same length.
    const outside = reportPage(report)
      .join('\n')
      .replaceAll(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
    assert.doesNotMatch(outside, /evil|hidden|Verified|<|!|\[|a\|b/, text)
  }
})

test('words and moments of the server are no markup either, and steer no terminal', () => {
  for (const text of [...hostile, '\u001b[2J\u001b]0;x\u0007', 'a\u202eb']) {
    const verified = { how: text, tables: 1, rows: 1 }
    const compared = { how: text, rows: 1, milliseconds: 1 }
    const database = {
      ...{ name: 'd', outcome: text, startedOn: text, endedOn: text, verified },
      tables: [{ name: 't', rows: 1, compared }],
    }
    const page = reportPage({ name: 'm', mode: text, state: text, databases: [database] })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
    assert.doesNotMatch(page.join('\n'), /<|!\[|\]\(|a\|b|[\u0000-\u0009\u000b-\u001f\u202e]/, text)
  }
})

test('what was compared of a table stands beside what was copied of it', () => {
  const compared = { how: 'checksums', rows: 7, milliseconds: 1500 }
  const tables = [{ name: 'public.a', rows: 7, bytes: 70, milliseconds: 250, compared }]
  const page = reportPage({ name: 'm', databases: [{ name: 'd', tables }] })
  assert.ok(
    page.includes('| `public.a` | 7 | 70 | 0.250 s | checksums: 7 rows | 1.500 s |'),
    page.join('\n'),
  )
})

test('the page says from where to where, and that the structure was compared', () => {
  const servers = {
    source: { address: 'old.example:5432', version: '13' },
    target: { address: 'new.example:5432', version: '18' },
  }
  const page = (outcome: string): string =>
    reportPage({ name: 'm', ...servers, databases: [{ name: 'd', outcome, tables: [] }] }).join(
      '\n',
    )
  assert.match(
    page('succeeded'),
    /^From `old\.example:5432` \(PostgreSQL `13`\) to `new\.example:5432` \(PostgreSQL `18`\)\.$/m,
  )
  assert.match(
    page('succeeded'),
    /^At the end the structure of each database that succeeded was compared/m,
  )
  assert.doesNotMatch(page('failed'), /structure of each/)
})
