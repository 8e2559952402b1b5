namespace books;

entity SalesInvoices {
  key ID: UUID;
  customerId: UUID;
  totalAmountExcludingTax: Decimal(15, 2) default 0;
  totalTaxAmount: Decimal(15, 2) default 0;
  salesInvoiceLines: Composition of many SalesInvoiceLines on salesInvoiceLines.document = $self;
}

entity SalesInvoiceLines {
  key ID: UUID;
  document: Association to SalesInvoices;
  itemId: UUID;
  unitPrice: Decimal(15, 2);
  quantity: Decimal(15, 5);
  netAmount: Decimal(15, 2);
  taxPercent: Decimal(9, 5);
  totalTaxAmount: Decimal(15, 2);
  amountIncludingTax: Decimal(15, 2);
}
