/**
 * The free text of `search`: every word has to occur in some string field, without regard to case. Fields are
 * joined by a character that no word holds, so that none is found across two of them.
 */

import type { Dimension } from './entry.ts'

/** Between fields. */
const separator = '\n'
const wordsMax = 10
const lengthMax = 256

/** The string fields that are searched, in lower case; the ones that name whole things, not codes. */
export function searchedText(dimension: Dimension): string {
  const fields: readonly (string | undefined)[] = [
    dimension.productDescription,
    dimension.productFamily,
    dimension.productType,
    dimension.productTypeId,
    dimension.plan,
    dimension.partNumber,
    dimension.transactionType,
    dimension.reasonCode,
    dimension.unitOfMeasure,
    dimension.unitType,
    dimension.billingProfileDisplayName,
    dimension.customerDisplayName,
    dimension.customerId,
    dimension.invoiceSectionDisplayName,
    dimension.invoiceSectionId,
    dimension.creditType,
    dimension.kind,
    dimension.specialTaxationType,
    dimension.billingCurrency,
    dimension.pricingCurrency,
  ]
  return fields
    .filter((field) => field !== undefined)
    .join(separator)
    .toLowerCase()
}

export type Search =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly reason: string }

export function parseSearch(given: string): Search {
  if (given.length > lengthMax) return { ok: false, reason: `at most ${lengthMax} characters` }
  const words = given
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length > wordsMax) return { ok: false, reason: `at most ${wordsMax} words` }
  if (words.some((word) => word.includes('\0') || !word.isWellFormed())) {
    return { ok: false, reason: 'expected text' }
  }
  return { ok: true, words }
}

export function matchesWords(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word))
}

/** Words that the indexes of three-letter pieces can find. */
export function indexedWords(words: readonly string[]): readonly string[] {
  return words.filter((word) => [...word].length >= 3)
}
