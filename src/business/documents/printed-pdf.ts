/**
 * A printed document as a PDF on A4. The font is embedded and has Latin, Greek and Cyrillic letters. The same
 * document gives the same bytes. The first document loads the library.
 */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'
import type PdfDocument from 'pdfkit'
import { type Printed, type PrintedRow, restRow } from './printed.ts'

type Pdf = InstanceType<typeof PdfDocument>

/** In points. */
const margin = 50
const left = margin
const right = 595.28 - margin
const bottom = 841.89 - margin - 20
const gap = 8
/** The widths of the columns after the description. */
const columns = [80, 70, 50, 45, 75] as const
const descriptionWidth = right - left - columns.reduce((sum, one) => sum + one, 0)

const ink = '#1a1a1a'
const grey = '#595959'
const line = '#d8d8d8'
const small = 8.5
const textSize = 9
const titleSize = 17
const logoHeight = 56
/** Pages are kept until the last is numbered. A line may be two pages long, so lines do not bound them. */
const pagesMax = 500

let fonts: Promise<readonly [text: Buffer, bold: Buffer]> | undefined

function loadFonts(): Promise<readonly [text: Buffer, bold: Buffer]> {
  const { resolve } = createRequire(import.meta.url)
  const file = async (weight: number) =>
    unpacked(
      await readFile(
        resolve(`@fontsource/dejavu-sans/files/dejavu-sans-latin-${weight}-normal.woff`),
      ),
    )
  fonts ??= Promise.all([file(400), file(700)])
  return fonts
}

/** Unpacks the font of a WOFF file once. The library would unpack its tables again for each document. */
function unpacked(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12)
  const head = Buffer.alloc(12 + 16 * count)
  woff.copy(head, 0, 4, 8)
  head.writeUInt16BE(count, 4)
  const tables: Buffer[] = [head]
  let end = head.length
  for (let at = 0; at < count; at++) {
    const from = 44 + 20 * at
    const [offset, packed, length] = [4, 8, 12].map((place) => woff.readUInt32BE(from + place))
    if (offset === undefined || packed === undefined || length === undefined) break
    const bytes = woff.subarray(offset, offset + packed)
    const table = Buffer.alloc(Math.ceil(length / 4) * 4)
    table.set(packed < length ? inflateSync(bytes) : bytes)
    const entry = 12 + 16 * at
    woff.copy(head, entry, from, from + 4)
    woff.copy(head, entry + 4, from + 16, from + 20)
    head.writeUInt32BE(end, entry + 8)
    head.writeUInt32BE(length, entry + 12)
    tables.push(table)
    end += table.length
  }
  return Buffer.concat(tables)
}

export async function asPdf(printed: Printed): Promise<Uint8Array> {
  const { default: Document } = await import('pdfkit')
  const [text, bold] = await loadFonts()
  const { language, title, number, company, changedAt } = printed
  const date = new Date(changedAt)
  const doc = new Document({
    size: 'A4',
    margin,
    bufferPages: true,
    lang: language,
    displayTitle: true,
    info: { Title: `${title} ${number}`, Author: company, CreationDate: date, ModDate: date },
  })
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const ended = new Promise((resolve, reject) => doc.once('end', resolve).once('error', reject))
  doc.registerFont('text', text).registerFont('bold', bold)
  let y = headOf(doc, printed)
  y = titlesOf(doc, printed, y)
  const { rows, more } = printed
  let written = 0
  for (const row of rows) {
    if (doc.bufferedPageRange().count >= pagesMax) break
    y = rowOf(doc, printed, row, y)
    written += 1
  }
  const left = printed.left + rows.length - written
  for (const row of restRow(left, more)) y = rowOf(doc, printed, row, y)
  footOf(doc, printed, sumsOf(doc, printed, y))
  numberPages(doc, printed)
  doc.end()
  await ended
  return Buffer.concat(chunks)
}

/** Draws the seller, the customer and the facts beside them. Returns where the lines begin. */
function headOf(doc: Pdf, { seller, billTo, title, facts, look }: Printed): number {
  const width = 250
  let top = margin
  if (look.logo !== '') {
    doc.image(Buffer.from(look.logo, 'base64'), left, top, { fit: [width, logoHeight] })
    top += logoHeight + 12
  }
  doc.font('text').fontSize(textSize).fillColor(grey)
  doc.text(seller, left, top, { width })
  doc.fillColor(ink).text(billTo, left, doc.y + 18, { width })
  const under = doc.y
  const start = left + width + 20
  doc.font('bold').fontSize(titleSize).fillColor(look.color)
  doc.text(title, start, margin, { width: right - start, align: 'right' })
  let y = doc.y + 8
  doc.fontSize(textSize)
  for (const [name, value] of facts) {
    doc.font('text').fillColor(grey).text(name, start, y, { width: 90 })
    const afterName = doc.y
    doc.fillColor(ink).text(value, start + 95, y, { width: right - start - 95, align: 'right' })
    y = Math.max(doc.y, afterName) + 2
  }
  return Math.max(under, y) + 28
}

/** Draws the titles of the columns, at the top of each page. */
function titlesOf(doc: Pdf, { head }: Printed, y: number): number {
  const [description = '', ...others] = head
  doc.font('bold').fontSize(small).fillColor(grey)
  const names = { description, cells: others }
  cellsOf(doc, names, y)
  doc.text(description, left, y, { width: descriptionWidth - gap })
  const under = doc.y + 4
  rule(doc, under, ink)
  return under + 5
}

function rowOf(doc: Pdf, printed: Printed, row: PrintedRow, at: number): number {
  const isText = row.cells.length === 0
  const width = isText ? right - left : descriptionWidth - gap
  doc.font('text').fontSize(textSize)
  const height = Math.max(doc.heightOfString(row.description || ' ', { width }), textSize)
  let y = at
  if (y + height > bottom) {
    doc.addPage()
    y = titlesOf(doc, printed, margin)
    doc.font('text').fontSize(textSize)
  }
  doc.fillColor(isText ? grey : ink)
  if (row.description !== '') doc.text(row.description, left, y, { width })
  cellsOf(doc, row, y)
  rule(doc, y + height + 3, line)
  return y + height + 7
}

function cellsOf(doc: Pdf, { cells }: PrintedRow, y: number): void {
  let edge = left + descriptionWidth
  for (const [at, cell] of cells.entries()) {
    const column = columns[at] ?? 0
    edge += column
    put(doc, cell, { edge, y, most: column - gap })
  }
}

interface Put {
  /** The right edge of the text. */
  readonly edge: number
  readonly y: number
  /** The maximum width. A longer text is written smaller. */
  readonly most: number
}

function put(doc: Pdf, text: string, { edge, y, most }: Put): void {
  if (text === '') return
  const width = doc.widthOfString(text)
  const share = Math.min(1, most / width)
  if (share < 1) doc.fontSize(textSize * share)
  doc.text(text, edge - width * share, y, { lineBreak: false })
  if (share < 1) doc.fontSize(textSize)
}

function sumsOf(doc: Pdf, { sums, look }: Printed, at: number): number {
  const step = 16
  let y = at + 10
  if (y + sums.length * step > bottom) {
    doc.addPage()
    y = margin
  }
  for (const { name, value, isTotal } of sums) {
    if (isTotal) rule(doc, y - 2, look.color, left + (right - left) / 2)
    const under = isTotal ? y + 3 : y
    doc.font(isTotal ? 'bold' : 'text').fontSize(textSize)
    doc.fillColor(isTotal ? look.color : ink)
    put(doc, name, { edge: right - 105, y: under, most: 380 })
    put(doc, value, { edge: right, y: under, most: 100 })
    y = under + step
  }
  return y
}

/** Draws how the document is to be paid, in a frame, and the company's last words. */
function footOf(doc: Pdf, { look: { slip, slipTitle, footer, color } }: Printed, at: number): void {
  const step = 14
  const [start, inset] = [left + (right - left) / 2, 10]
  const height = slip.length * step + 2 * inset + 18
  let y = at + 20
  if (slip.length > 0) {
    if (y + height > bottom) {
      doc.addPage()
      y = margin
    }
    doc.lineWidth(0.5).strokeColor(grey).dash(3, { space: 3 })
    doc
      .rect(start, y, right - start, height)
      .stroke()
      .undash()
    doc.font('bold').fontSize(textSize).fillColor(color)
    put(doc, slipTitle, { edge: right - inset, y: y + inset, most: right - start - 2 * inset })
    for (const [place, [name, value]] of slip.entries()) {
      const line = y + inset + 18 + place * step
      doc.font('text').fontSize(textSize).fillColor(grey)
      doc.text(name, start + inset, line, { width: 80, height: step, ellipsis: true })
      doc.fillColor(ink)
      put(doc, value, { edge: right - inset, y: line, most: right - start - 2 * inset - 85 })
    }
    y += height + 20
  }
  if (footer === '') return
  doc.font('text').fontSize(small).fillColor(grey)
  const tall = doc.heightOfString(footer, { width: right - left })
  if (y + tall > bottom) {
    doc.addPage()
    y = margin
  }
  doc.text(footer, left, y, { width: right - left })
}

function numberPages(doc: Pdf, { number, company }: Printed): void {
  const { count } = doc.bufferedPageRange()
  for (let page = 0; page < count; page++) {
    doc.switchToPage(page)
    // Text in the margin would begin another page.
    doc.page.margins.bottom = 0
    doc.font('text').fontSize(small).fillColor(grey)
    const y = bottom + 22
    doc.text(`${company} · ${number}`, left, y, { width: 380, height: 12, ellipsis: true })
    put(doc, `${page + 1} / ${count}`, { edge: right, y, most: 100 })
  }
}

function rule(doc: Pdf, y: number, color: string, from = left): void {
  doc.lineWidth(0.5).strokeColor(color).moveTo(from, y).lineTo(right, y).stroke()
}
