/**
 * The vendor words: the two words the contract writes as `Vendor` where a product's own
 * name stood. Declarations in the tree carry no vendor word at all (`Authorization/roleAssignments`);
 * it is put in front once, at start, by `qualify`.
 */

export interface VendorWords {
  /** Before a dot, and inside camelCase fields of products: `Vendor.Billing`, `enableVendorSupport`. */
  readonly namespace: string
  /** `Vendor-AsyncOperation`, `VendorFreeCredit`, `vendorCreditApplied`. */
  readonly brand: string
}

export const contractWords: VendorWords = { namespace: 'Vendor', brand: 'Vendor' }

const word = /^[A-Z][A-Za-z0-9]{0,30}$/

/** Is `text` fit to be a vendor word? */
export function isVendorWord(text: string): boolean {
  return word.test(text)
}

/** `Authorization/roleAssignments` → `Vendor.Authorization/roleAssignments`; patterns that begin with `*` stay. */
export function qualify(words: VendorWords, name: string): string {
  return name.startsWith('*') ? name : `${words.namespace}.${name}`
}

/** The name of a header that carries the brand word: `AsyncOperation` → `Vendor-AsyncOperation`. */
export function brandHeader(words: VendorWords, name: string): string {
  return `${words.brand}-${name}`
}

/** A camelCase field that begins with the brand word: `CreditApplied` → `vendorCreditApplied`. */
export function brandField(words: VendorWords, rest: string): string {
  return `${words.brand.charAt(0).toLowerCase()}${words.brand.slice(1)}${rest}`
}
