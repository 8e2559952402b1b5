/**
 * The free text of `search`: every word has to occur in some string field, without regard to case. Fields are
 * joined by a character that no word holds, so that none is found across two of them. Of what is an entry's own, its
 * name and its refund operation, a word has to be the beginning: that much an index can find among a million.
 */

import type { VendorWords } from '#kernel/vendor.ts'
import { accountIdOf } from '../ids.ts'
import type { Dimension, Row, Statement } from './entry.ts'

/** Separates fields. */
const separator = '\n'
const wordsMax = 10
const lengthMax = 256

/** The searched string fields, in lower case: those that name things, not codes. */
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

type Search =
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

const nameWordMin = 4

/** What all entries of a statement have: names that begin so, and where a word is a path, ids that have it in them. */
export function isOfStatement(words: VendorWords, statement: Statement, word: string): boolean {
  const { account, profile, invoice = 'Pending' } = statement
  if (!word.startsWith('/')) {
    // A number that means a product must not match a whole invoice with that number in its name.
    if (word.length < nameWordMin) return profile.toLowerCase() === word
    return [account, profile, invoice].some((name) => name.toLowerCase().startsWith(word))
  }
  const at = accountIdOf(words, account)
  const ids = [`${at}/billingProfiles/${profile}/transactions/`, `${at}/invoices/${invoice}`]
  return ids.some((id) => id.toLowerCase().includes(word))
}

/** A shorter word is the beginning of too many names. */
const ownWordMin = 8
const namePattern = /^[0-9a-f-]{8,36}$/

/** The beginning of the names that a word means: a GUID or its beginning, by itself or at the end of an id. */
export function nameOfWord(word: string): string | undefined {
  const name = word.slice(word.lastIndexOf('/') + 1)
  return namePattern.test(name) ? name : undefined
}

/** The beginning of the refund operations that a word means. */
export function operationOfWord(word: string): string | undefined {
  return word.length >= ownWordMin ? word : undefined
}

/** Whether a word means this very entry. */
export function isOfEntry(
  words: VendorWords,
  row: Row,
  statement: Statement,
  word: string,
): boolean {
  const operation = operationOfWord(word)
  if (operation !== undefined && row.refundOperation?.toLowerCase().startsWith(operation)) {
    return true
  }
  const name = nameOfWord(word)
  if (name === undefined || !row.name.startsWith(name)) return false
  const path = word.slice(0, -name.length)
  return path === '' || (path.endsWith('/transactions/') && isOfStatement(words, statement, path))
}

/** The words that a trigram index can find. */
export function indexedWords(words: readonly string[]): readonly string[] {
  return words.filter((word) => [...word].length >= 3)
}
