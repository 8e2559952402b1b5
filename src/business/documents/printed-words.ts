/** The words of a printed document, by language. Whoever has none of these languages reads English. */

export interface PrintedWords {
  readonly invoice: string
  readonly quote: string
  readonly creditMemo: string
  readonly draft: string
  readonly number: string
  readonly date: string
  readonly due: string
  readonly validUntil: string
  readonly customer: string
  readonly yourReference: string
  readonly description: string
  readonly quantity: string
  readonly price: string
  readonly discount: string
  readonly amount: string
  readonly excluding: string
  readonly tax: string
  readonly including: string
  readonly remaining: string
  readonly more: string
  readonly taxNumber: string
}

function words(list: string): PrintedWords {
  const [
    invoice = '',
    quote = '',
    creditMemo = '',
    draft = '',
    number = '',
    date = '',
    due = '',
    validUntil = '',
    customer = '',
    yourReference = '',
    description = '',
    quantity = '',
    price = '',
    discount = '',
    amount = '',
    excluding = '',
    tax = '',
    including = '',
    remaining = '',
    more = '',
    taxNumber = '',
  ] = list.split('|')
  return {
    ...{ invoice, quote, creditMemo, draft, number, date, due, validUntil, customer },
    ...{ yourReference, description, quantity, price, discount, amount, excluding, tax },
    ...{ including, remaining, more, taxNumber },
  }
}

const byLanguage: Readonly<Record<string, PrintedWords>> = Object.freeze({
  en: words(
    'Invoice|Quote|Credit memo|Draft|Number|Date|Due|Valid until|Customer|Your reference|Description|Quantity|Price|Discount|Amount|Total without tax|Tax|Total|To be paid|further lines|Tax number',
  ),
  de: words(
    'Rechnung|Angebot|Gutschrift|Entwurf|Nummer|Datum|Fällig|Gültig bis|Kunde|Ihr Zeichen|Beschreibung|Menge|Preis|Rabatt|Betrag|Summe ohne Steuer|Steuer|Gesamtbetrag|Zu zahlen|weitere Zeilen|Steuernummer',
  ),
  fr: words(
    "Facture|Devis|Avoir|Brouillon|Numéro|Date|Échéance|Valable jusqu'au|Client|Votre référence|Désignation|Quantité|Prix|Remise|Montant|Total hors taxes|Taxe|Total TTC|À payer|autres lignes|N° fiscal",
  ),
  es: words(
    'Factura|Presupuesto|Abono|Borrador|Número|Fecha|Vencimiento|Válido hasta|Cliente|Su referencia|Descripción|Cantidad|Precio|Descuento|Importe|Total sin impuestos|Impuesto|Total|A pagar|líneas más|N.º fiscal',
  ),
  it: words(
    'Fattura|Offerta|Nota di credito|Bozza|Numero|Data|Scadenza|Valida fino al|Cliente|Vostro riferimento|Descrizione|Quantità|Prezzo|Sconto|Importo|Totale senza imposte|Imposta|Totale|Da pagare|altre righe|Partita IVA',
  ),
  nl: words(
    'Factuur|Offerte|Creditnota|Concept|Nummer|Datum|Vervaldatum|Geldig tot|Klant|Uw referentie|Omschrijving|Aantal|Prijs|Korting|Bedrag|Totaal exclusief btw|Btw|Totaal|Te betalen|verdere regels|Btw-nummer',
  ),
})

const byCountry: Readonly<Record<string, string>> = Object.freeze({
  ...{ DE: 'de', AT: 'de', CH: 'de', LI: 'de', FR: 'fr', MC: 'fr', ES: 'es', MX: 'es' },
  ...{ IT: 'it', NL: 'nl', BE: 'nl' },
})

/** What the reader asks for, or else what is spoken where the customer is. */
export function languageOf(accepted: string | undefined, country: string): string {
  const wanted = (accepted ?? '')
    .split(',')
    .map((one) => one.trim().slice(0, 2).toLowerCase())
    .find((one) => Object.hasOwn(byLanguage, one))
  return wanted ?? byCountry[country.toUpperCase()] ?? 'en'
}

export function wordsOf(language: string): PrintedWords {
  // English is there.
  return byLanguage[language] ?? (byLanguage['en'] as PrintedWords)
}
