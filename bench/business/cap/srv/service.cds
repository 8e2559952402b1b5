using { books } from '../db/schema';

@path: '/odata/v4/bench'
service Bench {
  entity SalesInvoices as projection on books.SalesInvoices;
  entity SalesInvoiceLines as projection on books.SalesInvoiceLines;
}
