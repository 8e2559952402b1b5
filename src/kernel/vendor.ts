/**
 * The vendor words: two words that replace the product name which the contract writes as `Vendor`. Declarations in
 * the tree contain no vendor word (`Authorization/roleAssignments`); `qualify` adds it once, at start.
 */

export interface VendorWords {
  /** Used before a dot, and inside camelCase fields of products: `Vendor.Billing`, `enableVendorSupport`. */
  readonly namespace: string
  /** Used as in `Vendor-AsyncOperation`, `VendorFreeCredit`, `vendorCreditApplied`. */
  readonly brand: string
}

export const contractWords: VendorWords = { namespace: 'Vendor', brand: 'Vendor' }

const word = /^[A-Z][A-Za-z0-9]{0,30}$/

/** Whether `text` may be a vendor word. */
export function isVendorWord(text: string): boolean {
  return word.test(text)
}

/**
 * `Authorization/roleAssignments` → `Vendor.Authorization/roleAssignments`. A pattern that begins with `*` does not
 * change.
 */
export function qualify(words: VendorWords, name: string): string {
  return name.startsWith('*') ? name : `${words.namespace}.${name}`
}

/** The name of a header with the brand word: `AsyncOperation` → `Vendor-AsyncOperation`. */
export function brandHeader(words: VendorWords, name: string): string {
  return `${words.brand}-${name}`
}

/** A camelCase field with the brand word first: `CreditApplied` → `vendorCreditApplied`. */
export function brandField(words: VendorWords, rest: string): string {
  return `${words.brand.charAt(0).toLowerCase()}${words.brand.slice(1)}${rest}`
}
