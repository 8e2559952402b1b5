/** The words of a printed document, by language. The fallback is English. */

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
  readonly paymentSlip: string
  readonly payee: string
  readonly bank: string
  /** The words of a mail that a document is attached to. */
  readonly greeting: string
  readonly attached: string
  readonly regards: string
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
    paymentSlip = '',
    payee = '',
    bank = '',
    greeting = '',
    attached = '',
    regards = '',
  ] = list.split('|')
  return {
    ...{ invoice, quote, creditMemo, draft, number, date, due, validUntil, customer },
    ...{ yourReference, description, quantity, price, discount, amount, excluding, tax },
    ...{ including, remaining, more, taxNumber, paymentSlip, payee, bank },
    ...{ greeting, attached, regards },
  }
}

const byLanguage: Readonly<Record<string, PrintedWords>> = Object.freeze({
  en: words(
    'Invoice|Quote|Credit memo|Draft|Number|Date|Due|Valid until|Customer|Your reference|Description|Quantity|Price|Discount|Amount|Total without tax|Tax|Total|To be paid|further lines|Tax number|Payment slip|Payee|Bank|Hello|please find attached:|Kind regards',
  ),
  de: words(
    'Rechnung|Angebot|Gutschrift|Entwurf|Nummer|Datum|Fällig|Gültig bis|Kunde|Ihr Zeichen|Beschreibung|Menge|Preis|Rabatt|Betrag|Summe ohne Steuer|Steuer|Gesamtbetrag|Zu zahlen|weitere Zeilen|Steuernummer|Zahlschein|Empfänger|Bank|Guten Tag|im Anhang finden Sie:|Mit freundlichen Grüßen',
  ),
  fr: words(
    "Facture|Devis|Avoir|Brouillon|Numéro|Date|Échéance|Valable jusqu'au|Client|Votre référence|Désignation|Quantité|Prix|Remise|Montant|Total hors taxes|Taxe|Total TTC|À payer|autres lignes|N° fiscal|Bulletin de versement|Bénéficiaire|Banque|Bonjour|vous trouverez ci-joint :|Cordialement",
  ),
  es: words(
    'Factura|Presupuesto|Abono|Borrador|Número|Fecha|Vencimiento|Válido hasta|Cliente|Su referencia|Descripción|Cantidad|Precio|Descuento|Importe|Total sin impuestos|Impuesto|Total|A pagar|líneas más|N.º fiscal|Boleta de pago|Beneficiario|Banco|Buenos días|le adjuntamos:|Saludos cordiales',
  ),
  it: words(
    'Fattura|Offerta|Nota di credito|Bozza|Numero|Data|Scadenza|Valida fino al|Cliente|Vostro riferimento|Descrizione|Quantità|Prezzo|Sconto|Importo|Totale senza imposte|Imposta|Totale|Da pagare|altre righe|Partita IVA|Bollettino di pagamento|Beneficiario|Banca|Buongiorno|in allegato trova:|Cordiali saluti',
  ),
  nl: words(
    'Factuur|Offerte|Creditnota|Concept|Nummer|Datum|Vervaldatum|Geldig tot|Klant|Uw referentie|Omschrijving|Aantal|Prijs|Korting|Bedrag|Totaal exclusief btw|Btw|Totaal|Te betalen|verdere regels|Btw-nummer|Betaalstrook|Begunstigde|Bank|Goedendag|als bijlage vindt u:|Met vriendelijke groet',
  ),
})

const byCountry: Readonly<Record<string, string>> = Object.freeze({
  ...{ DE: 'de', AT: 'de', CH: 'de', LI: 'de', FR: 'fr', MC: 'fr', ES: 'es', MX: 'es' },
  ...{ IT: 'it', NL: 'nl', BE: 'nl' },
})

/** The language the reader asks for, else the language of the customer's country. */
export function languageOf(accepted: string | undefined, country: string): string {
  const wanted = (accepted ?? '')
    .split(',')
    .map((one) => one.trim().slice(0, 2).toLowerCase())
    .find((one) => Object.hasOwn(byLanguage, one))
  return wanted ?? byCountry[country.toUpperCase()] ?? 'en'
}

export function wordsOf(language: string): PrintedWords {
  // The table has English.
  return byLanguage[language] ?? (byLanguage['en'] as PrintedWords)
}
