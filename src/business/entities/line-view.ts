/**
 * What lines are read from. Where a document has an invoice discount, its share in every line changes with every
 * other line; so the share, and the net amounts that follow from it, are worked out here, out of the sums before the
 * line and those of its tax group (business facts 5.5). Other lines are read as they stand.
 */

import type { View } from '../entity.ts'
import { lines } from '../tables.ts'

/** For a line with a share: the expression before `spread` is null when the document has no discount. */
const worked: readonly (readonly [column: string, spread: string])[] = [
  // A changed share counts as a change of the line, although its row was not written.
  ['revision', 'revision + spread'],
  ['invoice_discount', 'share'],
  [
    'invoice_discount_allocation',
    `case when share = 0 then 0
      when inclusive = 1 then amount_excluding_tax - (line_amount - share - tax) else share end`,
  ],
  ['net_amount', 'line_amount - share - inclusive * tax'],
  ['net_tax_amount', 'tax'],
  ['net_amount_including_tax', 'line_amount - share + (1 - inclusive) * tax'],
]

const joined = `select business_lines.*, taxed.spread, taxed.line_amount as group_amount,
    taxed.eligible as group_eligible, taxed.invoice_discount as group_discount,
    taxed.including - taxed.net as group_tax, taxed.amount_precision as unit,
    taxed.prices_include_tax as inclusive,
    case when allows_invoice_discount = 1 then business_lines.line_amount else 0 end as own_eligible,
    blocks.line_amount + run_line_amount as upto, blocks.eligible + run_eligible as upto_eligible
  from business_lines
  left join business_document_tax_groups taxed on taxed.document_id = business_lines.document_id
    and taxed.tax_key = business_lines.tax_key and taxed.spread > 0
  left join business_line_blocks blocks on blocks.document_id = taxed.document_id
    and blocks.tax_key = taxed.tax_key and blocks.block = business_lines.run_block`

const discounted = `select *,
    share_of(group_discount, upto_eligible, group_eligible, unit) as part_until,
    share_of(group_discount, upto_eligible - own_eligible, group_eligible, unit) as part_before
  from (${joined}) as joined`

const taxed = `select *, part_until - part_before as share,
    share_of(group_tax, upto - part_until, group_amount - group_discount, unit)
    - share_of(group_tax, upto - line_amount - part_before, group_amount - group_discount, unit) as tax
  from (${discounted}) as discounted`

const columnsWorked = worked.map(
  ([column, spread]) => `case when spread is null then ${column} else ${spread} end as ${column}`,
)

const workedColumns: ReadonlySet<string> = new Set(worked.map(([column]) => column))
/** The columns without computation. */
const plain = Object.keys(lines.columns).filter((column) => !workedColumns.has(column))

/** One dialect's store provides `share_of`; in the other a migration makes it. */
export const lineSelect = `select ${[...plain, ...columnsWorked].join(', ')} from (${taxed}) as lines`

export const lineView: View = {
  select: () => lineSelect,
  works: `exists (select 1 from business_document_tax_groups taxed where taxed.document_id = t0.document_id
    and taxed.tax_key = t0.tax_key and taxed.spread > 0)`,
  columns: workedColumns,
}
