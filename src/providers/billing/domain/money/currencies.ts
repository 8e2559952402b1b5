/** Currencies (ISO 4217) and their number of decimals. An unlisted code of the right form has two. */

const decimalsOf: Readonly<Record<string, number>> = Object.freeze({
  BIF: 0,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  ISK: 0,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  PYG: 0,
  RWF: 0,
  UGX: 0,
  UYI: 0,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
  BHD: 3,
  IQD: 3,
  JOD: 3,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  TND: 3,
  CLF: 4,
  UYW: 4,
})

const code = /^[A-Z]{3}$/

export function isCurrency(text: string): boolean {
  return code.test(text)
}

/** The decimals of the currency's smallest unit: 2 for USD, 0 for JPY. */
export function decimalsOfCurrency(currency: string): number {
  return decimalsOf[currency] ?? 2
}
