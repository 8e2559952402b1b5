/** A printed document as a web page: `Accept: text/html` at a document's address. */

import type { BusinessAnswer } from '../message.ts'
import type { Budget } from '../odata/budget.ts'
import {
  type Printed,
  type PrintedLook,
  type PrintedRow,
  type PrintedSum,
  restRow,
} from './printed.ts'

/** A browser prefers a page; a client of the interface does not. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && /^\s*text\/html\b/i.test(accept)
}

/** The page loads and runs nothing, whatever its texts contain. */
const headers = Object.freeze({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'OData-Version': '4.0',
  Vary: 'Accept, Accept-Language',
})

const style = `body{font:14px/1.45 system-ui,sans-serif;color:#1a1a1a;max-width:52rem;margin:2.5rem auto;padding:0 1.5rem}
header{display:flex;justify-content:space-between;gap:2rem;margin-bottom:2rem}h1{font-size:1.7rem;margin:0 0 .75rem}
address{font-style:normal;white-space:pre-line}.seller{color:#595959;margin-bottom:1.5rem}dl{display:grid;grid-template-columns:auto auto;gap:.15rem 1.25rem;margin:0}
dt{color:#595959}dd{margin:0;text-align:right}table{border-collapse:collapse;width:100%;margin-top:1.5rem}
th,td{padding:.4rem .5rem;text-align:right;vertical-align:top;border-bottom:1px solid #d8d8d8}
th{color:#595959;font-weight:600;border-color:#1a1a1a}th:first-child,td:first-child{text-align:left;padding-left:0;overflow-wrap:anywhere}
td:not(:first-child){white-space:nowrap}td.text{color:#595959}tr.total td{font-weight:600;border-top:1px solid #1a1a1a}tfoot td{border:0;padding-top:.2rem}
tr{break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}.logo{display:block;max-width:14rem;max-height:5rem;margin-bottom:1rem}
footer{color:#595959;white-space:pre-line;margin-top:2rem}.slip{border:1px dashed #595959;padding:1rem;margin-top:2rem;max-width:24rem;margin-left:auto;break-inside:avoid}h2{font-size:1rem;margin:0 0 .5rem}@page{margin:18mm}@media print{body{margin:0;padding:0;max-width:none}}`

const rowsAtOnce = 500

export async function asPage(printed: Printed, budget: Budget): Promise<BusinessAnswer> {
  const { language, title, number, company, head, sums, left, more, look } = printed
  const rows = [...printed.rows, ...restRow(left, more)]
  let lines = ''
  for (const [at, row] of rows.entries()) {
    if (at % rowsAtOnce === rowsAtOnce - 1) await budget.pause()
    lines += rowText(row)
  }
  const named = safe(`${title} ${number} · ${company}`)
  const titles = head.map((one) => `<th scope="col">${safe(one)}</th>`).join('')
  const table = `<table><thead><tr>${titles}</tr></thead><tbody>${lines}</tbody></table>`
  const body = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${named}</title><style>${style}h1,h2,tr.total td{color:${look.color}}</style></head><body>${headText(printed)}${table}<table><tbody>${sums.map(sumText).join('')}</tbody></table>${slipText(look)}${look.footer === '' ? '' : `<footer>${safe(look.footer)}</footer>`}</body></html>\n`
  return { status: 200, headers: { ...headers, 'Content-Language': language }, body }
}

function factsText(facts: Printed['facts']): string {
  return facts.map(([name, value]) => `<dt>${safe(name)}</dt><dd>${safe(value)}</dd>`).join('')
}

function slipText({ slip, slipTitle }: PrintedLook): string {
  if (slip.length === 0) return ''
  return `<section class="slip"><h2>${safe(slipTitle)}</h2><dl>${factsText(slip)}</dl></section>`
}

function headText({ title, seller, billTo, facts, company, look: { logo } }: Printed): string {
  const image =
    logo === ''
      ? ''
      : `<img class="logo" alt="${safe(company)}" src="data:image/png;base64,${safe(logo)}">`
  return `<header><div>${image}<address class="seller">${safe(seller)}</address><address>${safe(billTo)}</address></div><div><h1>${safe(title)}</h1><dl>${factsText(facts)}</dl></div></header>`
}

function rowText({ description, cells }: PrintedRow): string {
  const text = safe(description)
  if (cells.length === 0) return `<tr><td class="text" colspan="6">${text}</td></tr>`
  return `<tr><td>${text}</td>${cells.map((one) => `<td>${safe(one)}</td>`).join('')}</tr>`
}

function sumText({ name, value, isTotal }: PrintedSum): string {
  return `<tr${isTotal ? ' class="total"' : ''}><td>${safe(name)}</td><td>${value}</td></tr>`
}

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => signs[sign] ?? sign)
}
