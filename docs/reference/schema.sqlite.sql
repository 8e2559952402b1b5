-- What a store in SQLite holds after all migrations. Generated: npm run generate.

CREATE TABLE billing_accounts (
  account_key text primary key,
  invoices_numbered bigint not null,
  changes bigint not null
);

CREATE TABLE billing_closed_months (
  account_key text not null,
  profile_key text not null,
  currency text not null,
  month text not null,
  primary key (account_key, profile_key, currency, month)
);

CREATE VIRTUAL TABLE billing_dimension_texts using fts5 (text, tokenize = 'trigram');

CREATE TABLE billing_dimensions (
  id integer primary key,
  digest text not null unique,
  document text not null
);

CREATE TABLE billing_entries (
  id integer primary key,
  statement_id bigint not null,
  dimension_id bigint not null,
  name text not null,
  date bigint not null,
  quantity bigint,
  units real,
  effective_price real,
  market_price real,
  exchange_rate real,
  sub_total bigint not null,
  tax bigint not null,
  amount bigint not null,
  credit bigint,
  commitment bigint,
  refunded bigint,
  requested bigint,
  refund_operation text,
  period_start bigint,
  period_end bigint,
  created_at bigint not null
, part bigint not null default 0);

CREATE INDEX billing_entries_by_amount on billing_entries (statement_id, part, amount);

CREATE INDEX billing_entries_by_commitment on billing_entries (statement_id, part, commitment) where commitment is not null;

CREATE INDEX billing_entries_by_credit on billing_entries (statement_id, part, credit) where credit is not null;

CREATE INDEX billing_entries_by_date on billing_entries (statement_id, part, date);

CREATE INDEX billing_entries_by_dimension
on billing_entries (statement_id, part, dimension_id, date);

CREATE INDEX billing_entries_by_effective_price on billing_entries (statement_id, part, effective_price);

CREATE INDEX billing_entries_by_exchange_rate on billing_entries (statement_id, part, exchange_rate);

CREATE INDEX billing_entries_by_id on billing_entries (statement_id);

CREATE INDEX billing_entries_by_market_price on billing_entries (statement_id, part, market_price);

CREATE INDEX billing_entries_by_name on billing_entries (statement_id, name);

CREATE INDEX billing_entries_by_name_alone on billing_entries (name);

CREATE INDEX billing_entries_by_operation
on billing_entries (statement_id, lower(refund_operation))
where refund_operation is not null;

CREATE INDEX billing_entries_by_period_end on billing_entries (statement_id, part, period_end);

CREATE INDEX billing_entries_by_period_start on billing_entries (statement_id, part, period_start);

CREATE INDEX billing_entries_by_quantity on billing_entries (statement_id, part, quantity);

CREATE INDEX billing_entries_by_refund_operation on billing_entries (statement_id, part, refund_operation) where refund_operation is not null;

CREATE INDEX billing_entries_by_refunded on billing_entries (statement_id, part, refunded) where refunded is not null;

CREATE INDEX billing_entries_by_requested on billing_entries (statement_id, part, requested) where requested is not null;

CREATE INDEX billing_entries_by_sub_total on billing_entries (statement_id, part, sub_total);

CREATE INDEX billing_entries_by_tax on billing_entries (statement_id, part, tax);

CREATE INDEX billing_entries_by_units on billing_entries (statement_id, part, units);

CREATE TABLE billing_import_refusals (
  account_key text not null,
  profile_key text not null,
  name_key text not null,
  line bigint not null,
  place text not null,
  reason text not null,
  primary key (account_key, profile_key, name_key, line)
);

CREATE TABLE billing_imports (
  account_key text not null,
  profile_key text not null,
  name text not null,
  name_key text not null,
  format text not null,
  header text not null,
  position bigint not null,
  digest text not null,
  lines bigint not null,
  recorded bigint not null,
  present bigint not null,
  refused bigint not null,
  completed bigint not null,
  created_at bigint not null,
  changed_at bigint not null,
  primary key (account_key, profile_key, name_key)
);

CREATE TABLE billing_refunds (
  entry_id bigint primary key,
  original_id bigint not null,
  sub_total bigint not null
);

CREATE INDEX billing_refunds_by_original on billing_refunds (original_id);

CREATE TABLE billing_statement_dimensions (
  statement_id bigint not null,
  dimension_id bigint not null,
  entries bigint not null,
  sub_total bigint not null,
  tax bigint not null,
  amount bigint not null,
  credit bigint not null,
  commitment bigint not null,
  primary key (statement_id, dimension_id)
);

CREATE TABLE billing_statements (
  id integer primary key,
  account_key text not null,
  profile_key text not null,
  account text not null,
  profile text not null,
  invoice text,
  currency text not null,
  month text not null,
  entries bigint not null,
  sub_total bigint not null,
  tax bigint not null,
  amount bigint not null,
  credit bigint not null,
  commitment bigint not null,
  closed_at bigint,
  status text not null
);

CREATE INDEX billing_invoices_of_account
on billing_statements (account_key, id) where invoice is not null;

CREATE INDEX billing_invoices_of_profile
on billing_statements (account_key, profile_key, id) where invoice is not null;

CREATE UNIQUE INDEX billing_statements_by_invoice on billing_statements (account_key, invoice);

CREATE INDEX billing_statements_by_month
on billing_statements (account_key, profile_key, (case when invoice is null then 0 else 1 end), month);

CREATE INDEX billing_statements_by_profile on billing_statements (account_key, profile_key, id);

CREATE UNIQUE INDEX billing_statements_pending
on billing_statements (account_key, profile_key, currency, month) where invoice is null;

CREATE TABLE billing_tags (
  entry_id bigint primary key,
  tags text not null,
  changed_at bigint,
  changed_by text
);

CREATE TABLE billing_usage (
  run_key text primary key,
  resource_id text not null,
  started_at bigint not null,
  ended_at bigint,
  seen_at bigint not null,
  rated_until bigint not null,
  unrated bigint not null,
  held text not null
);

CREATE INDEX billing_usage_by_resource on billing_usage (resource_id, rated_until);

CREATE INDEX billing_usage_settled on billing_usage (ended_at, run_key) where unrated = 0;

CREATE INDEX billing_usage_unrated on billing_usage (rated_until, run_key) where unrated = 1;

CREATE TABLE billing_usage_days (
  resource_key text not null,
  day bigint not null,
  meter text not null,
  held_seconds text not null,
  primary key (resource_key, day, meter)
);

CREATE TABLE billing_usage_series (
  series text primary key,
  settled_through bigint not null
);

CREATE TABLE business_access_rights (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  principal_id text not null default '00000000-0000-0000-0000-000000000000',
  role text not null default '',
  description text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_access_rights_by_principal
on business_access_rights (company_id, principal_id);

CREATE TABLE business_accounts (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  number text not null default '',
  display_name text not null default '',
  category text not null default '',
  sub_category text not null default '',
  blocked bigint not null default 0,
  account_type text not null default '',
  direct_posting bigint not null default 0,
  net_change bigint not null default 0,
  tax_group_code text not null default '',
  last_modified_date_time bigint not null default 0
, total_debit bigint not null default 0, total_credit bigint not null default 0, balance_debit bigint not null default 0, balance_credit bigint not null default 0);

CREATE TRIGGER business_accounts_created after insert on business_accounts for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'accounts')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'accounts', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_accounts_deleted after delete on business_accounts for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'accounts')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'accounts', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_accounts_logged_delete after delete on business_accounts for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'accounts')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'accounts', old.id);
end;

CREATE TRIGGER business_accounts_logged_insert after insert on business_accounts for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'accounts')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'accounts', new.id);
end;

CREATE TRIGGER business_accounts_logged_update after update on business_accounts for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'accounts')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'accounts', new.id);
end;

CREATE TRIGGER business_accounts_updated after update on business_accounts for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'accounts')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'accounts', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_accounts_by_number on business_accounts (company_id, number);

CREATE TABLE business_changes (
  number integer primary key autoincrement,
  company_id text not null,
  set_name text not null,
  row_id text not null,
  change text not null,
  at bigint not null
);

CREATE TABLE business_companies (
  id text not null primary key,
  revision bigint not null,
  system_version text not null default '',
  timestamp text not null default '',
  name text not null default '',
  display_name text not null default '',
  business_profile_id text not null default '',
  local_currency_code text not null default '',
  system_created_at bigint not null default 0,
  system_created_by text not null default '00000000-0000-0000-0000-000000000000',
  system_modified_at bigint not null default 0,
  system_modified_by text not null default '00000000-0000-0000-0000-000000000000'
);

CREATE UNIQUE INDEX business_companies_by_name on business_companies (name);

CREATE TABLE business_company_information (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  display_name text not null default '',
  address_line_1 text not null default '',
  address_line_2 text not null default '',
  city text not null default '',
  state text not null default '',
  country text not null default '',
  postal_code text not null default '',
  phone_number text not null default '',
  fax_number text not null default '',
  email text not null default '',
  website text not null default '',
  tax_registration_number text not null default '',
  industry text not null default '',
  last_modified_date_time bigint not null default 0
, logo text not null default '', document_color text not null default '', document_footer text not null default '', bank_name text not null default '', iban text not null default '', swift_code text not null default '', document_tax_total_only bigint not null default 0);

CREATE TRIGGER business_company_information_created after insert on business_company_information for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'companyInformation')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'companyInformation', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_company_information_deleted after delete on business_company_information for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'companyInformation')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'companyInformation', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_company_information_logged_delete after delete on business_company_information for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'companyInformation')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'companyInformation', old.id);
end;

CREATE TRIGGER business_company_information_logged_insert after insert on business_company_information for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'companyInformation')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'companyInformation', new.id);
end;

CREATE TRIGGER business_company_information_logged_update after update on business_company_information for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'companyInformation')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'companyInformation', new.id);
end;

CREATE TRIGGER business_company_information_updated after update on business_company_information for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'companyInformation')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'companyInformation', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_company_information_by_company
on business_company_information (company_id);

CREATE TABLE business_counters (
  company_id text not null,
  name text not null,
  last bigint not null,
  primary key (company_id, name)
);

CREATE TABLE business_currencies (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  symbol text not null default '',
  amount_decimal_places text not null default '',
  amount_rounding_precision bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_currencies_created after insert on business_currencies for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'currencies')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'currencies', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_currencies_deleted after delete on business_currencies for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'currencies')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'currencies', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_currencies_logged_delete after delete on business_currencies for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'currencies')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'currencies', old.id);
end;

CREATE TRIGGER business_currencies_logged_insert after insert on business_currencies for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'currencies')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'currencies', new.id);
end;

CREATE TRIGGER business_currencies_logged_update after update on business_currencies for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'currencies')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'currencies', new.id);
end;

CREATE TRIGGER business_currencies_updated after update on business_currencies for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'currencies')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'currencies', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_currencies_by_code on business_currencies (company_id, code);

CREATE TABLE business_currency_exchange_rates (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  currency_id text not null default '00000000-0000-0000-0000-000000000000',
  currency_code text not null default '',
  starting_date text not null default '0001-01-01',
  exchange_rate_amount bigint not null default 0,
  relational_exchange_rate_amount bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_currency_exchange_rates_by_day
on business_currency_exchange_rates (company_id, currency_id, starting_date);

CREATE TABLE business_customer_ledger_entries (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  entry_number bigint not null default 0,
  posting_date text not null default '0001-01-01',
  document_type text not null default '',
  document_number text not null default '',
  document_id text not null default '00000000-0000-0000-0000-000000000000',
  customer_id text not null default '00000000-0000-0000-0000-000000000000',
  customer_number text not null default '',
  description text not null default '',
  currency_code text not null default '',
  amount bigint not null default 0,
  amount_local bigint not null default 0,
  applied_amount bigint not null default 0,
  applies_to_invoice_id text not null default '00000000-0000-0000-0000-000000000000',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_customer_ledger_entries_logged_delete after delete on business_customer_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'customerLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'customerLedgerEntries', old.id);
end;

CREATE TRIGGER business_customer_ledger_entries_logged_insert after insert on business_customer_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customerLedgerEntries', new.id);
end;

CREATE TRIGGER business_customer_ledger_entries_logged_update after update on business_customer_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customerLedgerEntries', new.id);
end;

CREATE INDEX business_customer_ledger_entries_by_customer
on business_customer_ledger_entries (customer_id);

CREATE UNIQUE INDEX business_customer_ledger_entries_by_number on business_customer_ledger_entries (company_id, entry_number);

CREATE TABLE business_customer_payment_journals (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  balancing_account_id text not null default '00000000-0000-0000-0000-000000000000',
  balancing_account_number text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_customer_payment_journals_created after insert on business_customer_payment_journals for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'customerPaymentJournals')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'customerPaymentJournals', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_customer_payment_journals_deleted after delete on business_customer_payment_journals for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'customerPaymentJournals')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'customerPaymentJournals', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_customer_payment_journals_logged_delete after delete on business_customer_payment_journals for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'customerPaymentJournals')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'customerPaymentJournals', old.id);
end;

CREATE TRIGGER business_customer_payment_journals_logged_display_name after update of display_name on business_customer_payment_journals for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerPayments')
begin
  insert into business_row_changes (company_id, set_name, row_id)
    values (new.company_id, 'customerPayments', '*' || new.id);
end;

CREATE TRIGGER business_customer_payment_journals_logged_insert after insert on business_customer_payment_journals for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerPaymentJournals')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customerPaymentJournals', new.id);
end;

CREATE TRIGGER business_customer_payment_journals_logged_update after update on business_customer_payment_journals for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerPaymentJournals')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customerPaymentJournals', new.id);
end;

CREATE TRIGGER business_customer_payment_journals_updated after update on business_customer_payment_journals for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'customerPaymentJournals')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'customerPaymentJournals', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_customer_payment_journals_by_code
on business_customer_payment_journals (company_id, code);

CREATE TABLE business_customer_payments (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  document_number text not null default '',
  customer_id text not null default '00000000-0000-0000-0000-000000000000',
  customer_number text not null default '',
  posting_date text not null default '0001-01-01',
  external_document_number text not null default '',
  amount bigint not null default 0,
  applies_to_invoice_id text not null default '00000000-0000-0000-0000-000000000000',
  applies_to_invoice_number text not null default '',
  description text not null default '',
  comment text not null default '',
  last_modified_date_time bigint not null default 0
, journal_id text not null default '00000000-0000-0000-0000-000000000000', line_number bigint not null default 0, payment_discount bigint not null default 0);

CREATE TRIGGER business_customer_payments_logged_delete after delete on business_customer_payments for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'customerPayments')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'customerPayments', old.id);
end;

CREATE TRIGGER business_customer_payments_logged_insert after insert on business_customer_payments for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerPayments')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customerPayments', new.id);
end;

CREATE TRIGGER business_customer_payments_logged_update after update on business_customer_payments for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customerPayments')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customerPayments', new.id);
end;

CREATE INDEX business_customer_payments_by_customer on business_customer_payments (customer_id);

CREATE INDEX business_customer_payments_by_invoice
on business_customer_payments (applies_to_invoice_id);

CREATE INDEX business_customer_payments_by_journal
on business_customer_payments (journal_id, line_number);

CREATE UNIQUE INDEX business_customer_payments_by_number
on business_customer_payments (company_id, document_number);

CREATE TABLE business_customers (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  number text not null default '',
  display_name text not null default '',
  additional_name text not null default '',
  type text not null default '',
  address_line_1 text not null default '',
  address_line_2 text not null default '',
  city text not null default '',
  state text not null default '',
  country text not null default '',
  postal_code text not null default '',
  phone_number text not null default '',
  email text not null default '',
  website text not null default '',
  salesperson_code text not null default '',
  balance_due bigint not null default 0,
  credit_limit bigint not null default 0,
  tax_liable bigint not null default 0,
  tax_area_id text not null default '00000000-0000-0000-0000-000000000000',
  tax_registration_number text not null default '',
  currency_id text not null default '00000000-0000-0000-0000-000000000000',
  currency_code text not null default '',
  payment_terms_id text not null default '00000000-0000-0000-0000-000000000000',
  shipment_method_id text not null default '00000000-0000-0000-0000-000000000000',
  payment_method_id text not null default '00000000-0000-0000-0000-000000000000',
  blocked text not null default '',
  prices_include_tax bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_customers_created after insert on business_customers for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'customers')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'customers', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_customers_deleted after delete on business_customers for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'customers')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'customers', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_customers_logged_delete after delete on business_customers for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'customers')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'customers', old.id);
end;

CREATE TRIGGER business_customers_logged_insert after insert on business_customers for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customers')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customers', new.id);
end;

CREATE TRIGGER business_customers_logged_update after update on business_customers for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customers')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'customers', new.id);
end;

CREATE TRIGGER business_customers_updated after update on business_customers for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'customers')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'customers', new.id, 'updated', new.last_modified_date_time);
end;

CREATE INDEX business_customers_by_currency_id
on business_customers (currency_id) where currency_id <> '00000000-0000-0000-0000-000000000000';

CREATE UNIQUE INDEX business_customers_by_number on business_customers (company_id, number);

CREATE INDEX business_customers_by_payment_method_id
on business_customers (payment_method_id) where payment_method_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_customers_by_payment_terms_id
on business_customers (payment_terms_id) where payment_terms_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_customers_by_shipment_method_id
on business_customers (shipment_method_id) where shipment_method_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_customers_by_tax_area_id
on business_customers (tax_area_id) where tax_area_id <> '00000000-0000-0000-0000-000000000000';

CREATE TABLE business_document_tax_groups (
  document_id text not null,
  tax_key text not null,
  tax_percent bigint not null,
  line_count bigint not null,
  line_amount bigint not null,
  invoice_discount bigint not null,
  net bigint not null,
  including bigint not null, eligible bigint not null default 0, extent bigint not null default 0, spread bigint not null default 0, amount_precision bigint not null default 0, prices_include_tax bigint not null default 0,
  primary key (document_id, tax_key)
);

CREATE TABLE business_documents (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  number text not null default '',
  external_document_number text not null default '',
  document_date text not null default '0001-01-01',
  posting_date text not null default '0001-01-01',
  due_date text not null default '0001-01-01',
  customer_purchase_order_reference text not null default '',
  customer_id text not null default '00000000-0000-0000-0000-000000000000',
  customer_number text not null default '',
  customer_name text not null default '',
  bill_to_name text not null default '',
  bill_to_customer_id text not null default '00000000-0000-0000-0000-000000000000',
  bill_to_customer_number text not null default '',
  ship_to_name text not null default '',
  ship_to_contact text not null default '',
  sell_to_address_line_1 text not null default '',
  sell_to_address_line_2 text not null default '',
  sell_to_city text not null default '',
  sell_to_country text not null default '',
  sell_to_state text not null default '',
  sell_to_post_code text not null default '',
  ship_to_address_line_1 text not null default '',
  ship_to_address_line_2 text not null default '',
  ship_to_city text not null default '',
  ship_to_country text not null default '',
  ship_to_state text not null default '',
  ship_to_post_code text not null default '',
  bill_to_address_line_1 text not null default '',
  bill_to_address_line_2 text not null default '',
  bill_to_city text not null default '',
  bill_to_country text not null default '',
  bill_to_state text not null default '',
  bill_to_post_code text not null default '',
  currency_id text not null default '00000000-0000-0000-0000-000000000000',
  currency_code text not null default '',
  shipment_method_id text not null default '00000000-0000-0000-0000-000000000000',
  payment_terms_id text not null default '00000000-0000-0000-0000-000000000000',
  salesperson text not null default '',
  order_id text not null default '00000000-0000-0000-0000-000000000000',
  order_number text not null default '',
  prices_include_tax bigint not null default 0,
  remaining_amount bigint not null default 0,
  discount_amount bigint not null default 0,
  discount_applied_before_tax bigint not null default 0,
  total_amount_excluding_tax bigint not null default 0,
  total_tax_amount bigint not null default 0,
  total_amount_including_tax bigint not null default 0,
  status text not null default '',
  last_modified_date_time bigint not null default 0,
  phone_number text not null default '',
  email text not null default '',
  kind text not null default '',
  amount_precision bigint not null default 0,
  tax_liable bigint not null default 0,
  tax_area_id text not null default '00000000-0000-0000-0000-000000000000',
  line_count bigint not null default 0,
  discount_base bigint not null default 0,
  valid_until_date text not null default '0001-01-01',
  sent_date bigint not null default 0,
  accepted_date text not null default '0001-01-01',
  invoice_id text not null default '00000000-0000-0000-0000-000000000000',
  invoice_number text not null default ''
, exchange_rate_amount bigint not null default 0, relational_exchange_rate_amount bigint not null default 0, payment_discount_date text not null default '0001-01-01', payment_discount_percent bigint not null default 0);

CREATE TRIGGER business_documents_created after insert on business_documents for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end)
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end, new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_documents_deleted after delete on business_documents for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = case old.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end)
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, case old.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end, old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_documents_logged_delete after delete on business_documents for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = case old.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end)
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, case old.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end, old.id);
end;

CREATE TRIGGER business_documents_logged_insert after insert on business_documents for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end)
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end, new.id);
end;

CREATE TRIGGER business_documents_logged_update after update on business_documents for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end)
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end, new.id);
end;

CREATE TRIGGER business_documents_updated after update on business_documents for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end)
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, case new.kind when 'invoice' then 'salesInvoices' when 'quote' then 'salesQuotes' else 'salesCreditMemos' end, new.id, 'updated', new.last_modified_date_time);
end;

CREATE INDEX business_documents_by_currency_id
on business_documents (currency_id) where currency_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_documents_by_customer on business_documents (customer_id, kind, number);

CREATE INDEX business_documents_by_invoice on business_documents (invoice_id);

CREATE UNIQUE INDEX business_documents_by_number
on business_documents (company_id, kind, number);

CREATE INDEX business_documents_by_payer on business_documents (bill_to_customer_id);

CREATE INDEX business_documents_by_payment_terms_id
on business_documents (payment_terms_id) where payment_terms_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_documents_by_shipment_method_id
on business_documents (shipment_method_id) where shipment_method_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_documents_by_tax_area_id
on business_documents (tax_area_id) where tax_area_id <> '00000000-0000-0000-0000-000000000000';

CREATE TABLE business_followed_sets (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  set_name text not null default '',
  secret text not null default '',
  kept_from bigint not null default 0,
  marked_position bigint not null default 0,
  marked_at bigint not null default 0,
  used_at bigint not null default 0
);

CREATE UNIQUE INDEX business_followed_sets_by_set
on business_followed_sets (company_id, set_name);

CREATE TABLE business_general_ledger_entries (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  entry_number bigint not null default 0,
  posting_date text not null default '0001-01-01',
  document_type text not null default '',
  document_number text not null default '',
  document_id text not null default '00000000-0000-0000-0000-000000000000',
  account_id text not null default '00000000-0000-0000-0000-000000000000',
  account_number text not null default '',
  description text not null default '',
  debit_amount bigint not null default 0,
  credit_amount bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_general_ledger_entries_created after insert on business_general_ledger_entries for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'generalLedgerEntries')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'generalLedgerEntries', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_general_ledger_entries_deleted after delete on business_general_ledger_entries for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'generalLedgerEntries')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'generalLedgerEntries', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_general_ledger_entries_logged_delete after delete on business_general_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'generalLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'generalLedgerEntries', old.id);
end;

CREATE TRIGGER business_general_ledger_entries_logged_insert after insert on business_general_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'generalLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'generalLedgerEntries', new.id);
end;

CREATE TRIGGER business_general_ledger_entries_logged_update after update on business_general_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'generalLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'generalLedgerEntries', new.id);
end;

CREATE TRIGGER business_general_ledger_entries_updated after update on business_general_ledger_entries for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'generalLedgerEntries')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'generalLedgerEntries', new.id, 'updated', new.last_modified_date_time);
end;

CREATE INDEX business_general_ledger_entries_by_account
on business_general_ledger_entries (account_id);

CREATE UNIQUE INDEX business_general_ledger_entries_by_number on business_general_ledger_entries (company_id, entry_number);

CREATE TABLE business_item_ledger_entries (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  entry_number bigint not null default 0,
  posting_date text not null default '0001-01-01',
  document_type text not null default '',
  document_number text not null default '',
  document_id text not null default '00000000-0000-0000-0000-000000000000',
  item_id text not null default '00000000-0000-0000-0000-000000000000',
  item_number text not null default '',
  entry_type text not null default '',
  source_number text not null default '',
  description text not null default '',
  quantity bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_item_ledger_entries_logged_delete after delete on business_item_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'itemLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'itemLedgerEntries', old.id);
end;

CREATE TRIGGER business_item_ledger_entries_logged_insert after insert on business_item_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'itemLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'itemLedgerEntries', new.id);
end;

CREATE TRIGGER business_item_ledger_entries_logged_update after update on business_item_ledger_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'itemLedgerEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'itemLedgerEntries', new.id);
end;

CREATE INDEX business_item_ledger_entries_by_document_id
on business_item_ledger_entries (document_id) where document_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_item_ledger_entries_by_item on business_item_ledger_entries (item_id);

CREATE UNIQUE INDEX business_item_ledger_entries_by_number on business_item_ledger_entries (company_id, entry_number);

CREATE TABLE business_item_units_of_measure (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  item_id text not null default '00000000-0000-0000-0000-000000000000',
  unit_of_measure_id text not null default '00000000-0000-0000-0000-000000000000',
  unit_of_measure_code text not null default '',
  quantity_per_unit bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE INDEX business_item_units_by_company
on business_item_units_of_measure (company_id, item_id, unit_of_measure_code);

CREATE UNIQUE INDEX business_item_units_by_item
on business_item_units_of_measure (item_id, unit_of_measure_id);

CREATE INDEX business_item_units_of_measure_by_unit_of_measure_id
on business_item_units_of_measure (unit_of_measure_id) where unit_of_measure_id <> '00000000-0000-0000-0000-000000000000';

CREATE TABLE business_item_variants (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  item_id text not null default '00000000-0000-0000-0000-000000000000',
  item_number text not null default '',
  code text not null default '',
  description text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_item_variants_logged_delete after delete on business_item_variants for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'itemVariants')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'itemVariants', old.id);
end;

CREATE TRIGGER business_item_variants_logged_insert after insert on business_item_variants for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'itemVariants')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'itemVariants', new.id);
end;

CREATE TRIGGER business_item_variants_logged_update after update on business_item_variants for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'itemVariants')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'itemVariants', new.id);
end;

CREATE INDEX business_item_variants_by_company
on business_item_variants (company_id, item_id, code);

CREATE UNIQUE INDEX business_item_variants_by_item
on business_item_variants (item_id, code);

CREATE TABLE business_items (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  number text not null default '',
  display_name text not null default '',
  display_name_2 text not null default '',
  type text not null default '',
  blocked bigint not null default 0,
  sales_blocked bigint not null default 0,
  gtin text not null default '',
  inventory bigint not null default 0,
  unit_price bigint not null default 0,
  price_includes_tax bigint not null default 0,
  unit_cost bigint not null default 0,
  tax_group_id text not null default '00000000-0000-0000-0000-000000000000',
  tax_group_code text not null default '',
  base_unit_of_measure_id text not null default '00000000-0000-0000-0000-000000000000',
  base_unit_of_measure_code text not null default '',
  allow_invoice_discount bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_items_created after insert on business_items for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'items')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'items', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_items_deleted after delete on business_items for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'items')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'items', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_items_logged_delete after delete on business_items for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'items')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'items', old.id);
end;

CREATE TRIGGER business_items_logged_insert after insert on business_items for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'items')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'items', new.id);
end;

CREATE TRIGGER business_items_logged_update after update on business_items for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'items')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'items', new.id);
end;

CREATE TRIGGER business_items_updated after update on business_items for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'items')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'items', new.id, 'updated', new.last_modified_date_time);
end;

CREATE INDEX business_items_by_base_unit_of_measure_id
on business_items (base_unit_of_measure_id) where base_unit_of_measure_id <> '00000000-0000-0000-0000-000000000000';

CREATE UNIQUE INDEX business_items_by_number on business_items (company_id, number);

CREATE INDEX business_items_by_tax_group_id
on business_items (tax_group_id) where tax_group_id <> '00000000-0000-0000-0000-000000000000';

CREATE TABLE business_line_blocks (
  document_id text not null,
  tax_key text not null,
  block bigint not null,
  line_count bigint not null,
  line_amount bigint not null,
  eligible bigint not null,
  primary key (document_id, tax_key, block)
);

CREATE TABLE business_lines (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  legacy_id text not null default '',
  document_id text not null default '00000000-0000-0000-0000-000000000000',
  sequence bigint not null default 0,
  item_id text not null default '00000000-0000-0000-0000-000000000000',
  account_id text not null default '00000000-0000-0000-0000-000000000000',
  line_type text not null default '',
  line_object_number text not null default '',
  description text not null default '',
  description_2 text not null default '',
  unit_of_measure_id text not null default '00000000-0000-0000-0000-000000000000',
  unit_of_measure_code text not null default '',
  unit_price bigint not null default 0,
  quantity bigint not null default 0,
  discount_amount bigint not null default 0,
  discount_percent bigint not null default 0,
  discount_applied_before_tax bigint not null default 0,
  amount_excluding_tax bigint not null default 0,
  tax_code text not null default '',
  tax_percent bigint not null default 0,
  total_tax_amount bigint not null default 0,
  amount_including_tax bigint not null default 0,
  invoice_discount_allocation bigint not null default 0,
  net_amount bigint not null default 0,
  net_tax_amount bigint not null default 0,
  net_amount_including_tax bigint not null default 0,
  shipment_date text not null default '0001-01-01',
  item_variant_id text not null default '00000000-0000-0000-0000-000000000000',
  location_id text not null default '00000000-0000-0000-0000-000000000000',
  kind text not null default '',
  object_name text not null default '',
  line_amount bigint not null default 0,
  invoice_discount bigint not null default 0,
  tax_key text not null default '',
  allows_invoice_discount bigint not null default 0
, run_block bigint not null default 0, run_line_amount bigint not null default 0, run_eligible bigint not null default 0);

CREATE INDEX business_lines_by_account_id
on business_lines (account_id) where account_id <> '00000000-0000-0000-0000-000000000000';

CREATE UNIQUE INDEX business_lines_by_document on business_lines (document_id, sequence);

CREATE INDEX business_lines_by_group on business_lines (document_id, tax_key, sequence);

CREATE INDEX business_lines_by_item on business_lines (item_id, unit_of_measure_id);

CREATE INDEX business_lines_by_item_variant_id
on business_lines (item_variant_id) where item_variant_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_lines_by_location_id
on business_lines (location_id) where location_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_lines_by_unit_of_measure_id
on business_lines (unit_of_measure_id) where unit_of_measure_id <> '00000000-0000-0000-0000-000000000000';

CREATE TABLE business_locations (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  contact text not null default '',
  address_line_1 text not null default '',
  address_line_2 text not null default '',
  city text not null default '',
  state text not null default '',
  country text not null default '',
  postal_code text not null default '',
  phone_number text not null default '',
  email text not null default '',
  website text not null default '',
  use_as_in_transit bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_locations_by_code on business_locations (company_id, code);

CREATE TABLE business_number_series (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  prefix text not null default '',
  digits bigint not null default 0,
  last bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_number_series_by_code
on business_number_series (company_id, code);

CREATE TABLE business_outbox_entries (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  kind text not null default '',
  status text not null default '',
  sender text not null default '',
  recipient text not null default '',
  subject text not null default '',
  language text not null default '',
  document_id text not null default '00000000-0000-0000-0000-000000000000',
  document_type text not null default '',
  document_number text not null default '',
  attempts bigint not null default 0,
  created_at bigint not null default 0,
  due_at bigint not null default 0,
  leased_until bigint not null default 0,
  sent_at bigint not null default 0,
  last_error text not null default '',
  last_modified_date_time bigint not null default 0,
  payload text not null default '',
  message text not null default ''
);

CREATE INDEX business_outbox_entries_by_company
on business_outbox_entries (company_id, created_at, id);

CREATE INDEX business_outbox_entries_by_document
on business_outbox_entries (document_id);

CREATE INDEX business_outbox_entries_ended
on business_outbox_entries (created_at) where kind = 'Notification' and status <> 'Waiting';

CREATE INDEX business_outbox_entries_waiting
on business_outbox_entries (kind, due_at) where status = 'Waiting';

CREATE INDEX business_outbox_entries_waiting_of
on business_outbox_entries (company_id, kind) where status = 'Waiting';

CREATE TABLE business_payment_methods (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_payment_methods_created after insert on business_payment_methods for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'paymentMethods')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'paymentMethods', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_payment_methods_deleted after delete on business_payment_methods for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'paymentMethods')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'paymentMethods', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_payment_methods_logged_delete after delete on business_payment_methods for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'paymentMethods')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'paymentMethods', old.id);
end;

CREATE TRIGGER business_payment_methods_logged_insert after insert on business_payment_methods for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'paymentMethods')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'paymentMethods', new.id);
end;

CREATE TRIGGER business_payment_methods_logged_update after update on business_payment_methods for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'paymentMethods')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'paymentMethods', new.id);
end;

CREATE TRIGGER business_payment_methods_updated after update on business_payment_methods for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'paymentMethods')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'paymentMethods', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_payment_methods_by_code on business_payment_methods (company_id, code);

CREATE TABLE business_payment_terms (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  due_date_calculation text not null default '',
  discount_date_calculation text not null default '',
  discount_percent bigint not null default 0,
  calculate_discount_on_credit_memos bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_payment_terms_created after insert on business_payment_terms for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'paymentTerms')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'paymentTerms', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_payment_terms_deleted after delete on business_payment_terms for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'paymentTerms')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'paymentTerms', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_payment_terms_logged_delete after delete on business_payment_terms for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'paymentTerms')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'paymentTerms', old.id);
end;

CREATE TRIGGER business_payment_terms_logged_insert after insert on business_payment_terms for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'paymentTerms')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'paymentTerms', new.id);
end;

CREATE TRIGGER business_payment_terms_logged_update after update on business_payment_terms for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'paymentTerms')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'paymentTerms', new.id);
end;

CREATE TRIGGER business_payment_terms_updated after update on business_payment_terms for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'paymentTerms')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'paymentTerms', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_payment_terms_by_code on business_payment_terms (company_id, code);

CREATE TABLE business_posting_accounts (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  account_id text not null default '00000000-0000-0000-0000-000000000000',
  account_number text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_posting_accounts_by_code
on business_posting_accounts (company_id, code);

CREATE TABLE business_row_changes (
  position integer primary key autoincrement,
  company_id text not null,
  set_name text not null,
  row_id text not null
);

CREATE INDEX business_row_changes_by_set on business_row_changes (company_id, set_name, position, row_id);

CREATE TABLE business_shipment_methods (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_shipment_methods_created after insert on business_shipment_methods for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'shipmentMethods')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'shipmentMethods', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_shipment_methods_deleted after delete on business_shipment_methods for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'shipmentMethods')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'shipmentMethods', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_shipment_methods_logged_delete after delete on business_shipment_methods for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'shipmentMethods')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'shipmentMethods', old.id);
end;

CREATE TRIGGER business_shipment_methods_logged_insert after insert on business_shipment_methods for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'shipmentMethods')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'shipmentMethods', new.id);
end;

CREATE TRIGGER business_shipment_methods_logged_update after update on business_shipment_methods for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'shipmentMethods')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'shipmentMethods', new.id);
end;

CREATE TRIGGER business_shipment_methods_updated after update on business_shipment_methods for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'shipmentMethods')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'shipmentMethods', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_shipment_methods_by_code on business_shipment_methods (company_id, code);

CREATE TABLE business_subscriptions (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  set_name text not null default '',
  resource text not null default '',
  notification_url text not null default '',
  client_state text not null default '',
  user_id text not null default '00000000-0000-0000-0000-000000000000',
  is_administrators bigint not null default 0,
  expires_at bigint not null default 0,
  created_at bigint not null default 0,
  last_modified_date_time bigint not null default 0
, maker text not null default '');

CREATE INDEX business_subscriptions_by_set
on business_subscriptions (company_id, set_name);

CREATE TABLE business_tax_areas (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  tax_type text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_tax_areas_logged_display_name after update of display_name on business_tax_areas for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'customers')
begin
  insert into business_row_changes (company_id, set_name, row_id)
    values (new.company_id, 'customers', '*' || new.id);
end;

CREATE UNIQUE INDEX business_tax_areas_by_code on business_tax_areas (company_id, code);

CREATE TABLE business_tax_entries (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  entry_number bigint not null default 0,
  posting_date text not null default '0001-01-01',
  document_type text not null default '',
  document_number text not null default '',
  document_id text not null default '00000000-0000-0000-0000-000000000000',
  customer_id text not null default '00000000-0000-0000-0000-000000000000',
  tax_percent bigint not null default 0,
  base bigint not null default 0,
  amount bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_tax_entries_logged_delete after delete on business_tax_entries for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'taxEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'taxEntries', old.id);
end;

CREATE TRIGGER business_tax_entries_logged_insert after insert on business_tax_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'taxEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'taxEntries', new.id);
end;

CREATE TRIGGER business_tax_entries_logged_update after update on business_tax_entries for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'taxEntries')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'taxEntries', new.id);
end;

CREATE UNIQUE INDEX business_tax_entries_by_number on business_tax_entries (company_id, entry_number);

CREATE TABLE business_tax_groups (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  tax_type text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_tax_groups_by_code on business_tax_groups (company_id, code);

CREATE TABLE business_tax_rates (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  tax_area_id text not null default '00000000-0000-0000-0000-000000000000',
  tax_area_code text not null default '',
  tax_group_id text not null default '00000000-0000-0000-0000-000000000000',
  tax_group_code text not null default '',
  tax_percent bigint not null default 0,
  last_modified_date_time bigint not null default 0
);

CREATE UNIQUE INDEX business_tax_rates_by_groups
on business_tax_rates (company_id, tax_area_id, tax_group_id);

CREATE INDEX business_tax_rates_by_tax_area_id
on business_tax_rates (tax_area_id) where tax_area_id <> '00000000-0000-0000-0000-000000000000';

CREATE INDEX business_tax_rates_by_tax_group_id
on business_tax_rates (tax_group_id) where tax_group_id <> '00000000-0000-0000-0000-000000000000';

CREATE TABLE business_units_of_measure (
  id text not null primary key,
  company_id text not null,
  revision bigint not null,
  code text not null default '',
  display_name text not null default '',
  international_standard_code text not null default '',
  symbol text not null default '',
  last_modified_date_time bigint not null default 0
);

CREATE TRIGGER business_units_of_measure_created after insert on business_units_of_measure for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'unitsOfMeasure')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'unitsOfMeasure', new.id, 'created', new.last_modified_date_time);
end;

CREATE TRIGGER business_units_of_measure_deleted after delete on business_units_of_measure for each row when exists (select 1 from business_subscriptions
  where company_id = old.company_id and set_name = 'unitsOfMeasure')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (old.company_id, 'unitsOfMeasure', old.id, 'deleted', old.last_modified_date_time);
end;

CREATE TRIGGER business_units_of_measure_logged_delete after delete on business_units_of_measure for each row
  when exists (select 1 from business_followed_sets where company_id = old.company_id and set_name = 'unitsOfMeasure')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (old.company_id, 'unitsOfMeasure', old.id);
end;

CREATE TRIGGER business_units_of_measure_logged_insert after insert on business_units_of_measure for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'unitsOfMeasure')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'unitsOfMeasure', new.id);
end;

CREATE TRIGGER business_units_of_measure_logged_update after update on business_units_of_measure for each row
  when exists (select 1 from business_followed_sets where company_id = new.company_id and set_name = 'unitsOfMeasure')
begin
  insert into business_row_changes (company_id, set_name, row_id) values (new.company_id, 'unitsOfMeasure', new.id);
end;

CREATE TRIGGER business_units_of_measure_updated after update on business_units_of_measure for each row when exists (select 1 from business_subscriptions
  where company_id = new.company_id and set_name = 'unitsOfMeasure')
begin
  insert into business_changes (company_id, set_name, row_id, change, at)
    values (new.company_id, 'unitsOfMeasure', new.id, 'updated', new.last_modified_date_time);
end;

CREATE UNIQUE INDEX business_units_of_measure_by_code on business_units_of_measure (company_id, code);

CREATE TABLE event_blocks (
  last INTEGER NOT NULL PRIMARY KEY,
  first INTEGER NOT NULL,
  earliest INTEGER NOT NULL,
  latest INTEGER NOT NULL,
  terms BLOB NOT NULL
);

CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  action TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  correlation_id TEXT NOT NULL,
  operation_id TEXT,
  detail TEXT NOT NULL
, status TEXT NOT NULL DEFAULT 'Succeeded', caller TEXT NOT NULL DEFAULT '', subscription TEXT NOT NULL DEFAULT '');

CREATE TABLE feed_entries (
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (name, position)
) WITHOUT ROWID;

CREATE TABLE feeds (name TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL);

CREATE TABLE fences (value INTEGER NOT NULL);

CREATE TABLE health_audiences (
  audience text not null,
  newest bigint not null,
  tracking_id text not null,
  event_type text not null,
  status text not null,
  event_level text not null,
  services text not null,
  regions text not null,
  primary key (audience, newest, tracking_id)
) without rowid;

CREATE INDEX health_audiences_by_event on health_audiences (tracking_id);

CREATE TABLE health_availability (
  resource_key text primary key,
  type text not null,
  state text not null,
  reason text not null
);

CREATE INDEX health_availability_by_type on health_availability (type, resource_key);

CREATE TABLE health_availability_past (
  resource_key text not null,
  since bigint not null,
  state text not null,
  reason text not null,
  summary text not null,
  primary key (resource_key, since)
) without rowid;

CREATE TABLE health_events (
  tracking_id text primary key,
  shown_id text not null,
  owner text not null,
  revision bigint not null,
  document text not null
);

CREATE TABLE health_signals (
  signal text primary key,
  tracking_id text not null
);

CREATE TABLE health_steps (
  id text primary key,
  tracking_id text not null,
  due_at bigint not null,
  position bigint not null,
  step text not null
, owner text not null default '');

CREATE INDEX health_steps_by_due on health_steps (due_at, position);

CREATE INDEX health_steps_by_owner on health_steps (owner);

CREATE TABLE identity_consents (
  principal_id text not null,
  client_id text not null,
  scope text not null,
  granted_at bigint not null,
  primary key (principal_id, client_id)
);

CREATE TABLE identity_credentials (
  id text primary key,
  principal_id text not null,
  kind text not null,
  hash text not null,
  display_name text not null,
  created_at bigint not null,
  expires_at bigint
);

CREATE INDEX identity_credentials_by_principal on identity_credentials (principal_id, kind);

CREATE TABLE identity_memberships (
  group_id text not null,
  member_id text not null,
  primary key (group_id, member_id)
);

CREATE INDEX identity_memberships_by_member on identity_memberships (member_id, group_id);

CREATE TABLE identity_oauth_states (
  kind text not null,
  id text not null,
  payload text not null,
  uid text,
  user_code text,
  grant_id text,
  account_id text,
  consumed_at bigint,
  expires_at bigint not null, client_id text,
  primary key (kind, id)
);

CREATE INDEX identity_oauth_states_by_account on identity_oauth_states (account_id);

CREATE INDEX identity_oauth_states_by_client on identity_oauth_states (client_id);

CREATE INDEX identity_oauth_states_by_expiry on identity_oauth_states (expires_at);

CREATE INDEX identity_oauth_states_by_grant on identity_oauth_states (grant_id);

CREATE INDEX identity_oauth_states_by_uid on identity_oauth_states (uid);

CREATE INDEX identity_oauth_states_by_user_code on identity_oauth_states (user_code);

CREATE TABLE identity_principals (
  id text primary key,
  type text not null,
  display_name text not null,
  sign_in_name text,
  sign_in_key text unique,
  client_id text unique,
  redirect_uris text not null,
  enabled bigint not null,
  created_at bigint not null
, attributes text, generation bigint not null default 0, public_client bigint not null default 0);

CREATE INDEX identity_principals_by_type on identity_principals (type, id);

CREATE TABLE identity_sessions (
  id text primary key,
  session_key text not null,
  principal_id text not null,
  client_id text,
  grant_id text,
  credential_id text not null,
  address text not null,
  user_agent text not null,
  created_at bigint not null,
  used_at bigint not null,
  ended_at bigint
);

CREATE INDEX identity_sessions_by_client on identity_sessions (client_id);

CREATE INDEX identity_sessions_by_end on identity_sessions (ended_at);

CREATE INDEX identity_sessions_by_grant on identity_sessions (grant_id);

CREATE INDEX identity_sessions_by_key on identity_sessions (session_key);

CREATE INDEX identity_sessions_by_principal on identity_sessions (principal_id, created_at);

CREATE INDEX identity_sessions_by_start on identity_sessions (created_at);

CREATE INDEX identity_sessions_by_use on identity_sessions (used_at);

CREATE TABLE identity_settings (
  name text primary key,
  value text not null
);

CREATE TABLE identity_sign_in_failures (
  id text primary key,
  failures bigint not null,
  locked_until bigint not null,
  forget_at bigint not null
);

CREATE INDEX identity_sign_in_failures_by_expiry on identity_sign_in_failures (forget_at);

CREATE TABLE identity_signing_keys (
  id text primary key,
  public_key text not null,
  private_key text,
  created_at bigint not null,
  retired_at bigint
);

CREATE TABLE identity_workloads (
  resource_key text primary key,
  principal_id text not null
);

CREATE TABLE installation (name text primary key, value text not null);

CREATE TABLE installation_denials (
  place bigint primary key,
  at bigint not null,
  correlation_id text not null,
  principal_id text not null,
  action text not null,
  scope text not null,
  request text
);

CREATE TABLE installation_rotation (
  id bigint not null primary key,
  from_proof text not null,
  to_proof text not null,
  phase text not null,
  owner text not null,
  beat bigint not null,
  started_at bigint not null,
  progress text not null,
  fence text
);

CREATE TABLE installation_rotation_members (
  process text not null primary key,
  place text not null,
  holds bigint not null
);

CREATE TABLE operations (
  id TEXT NOT NULL PRIMARY KEY,
  resource_key TEXT NOT NULL,
  document TEXT NOT NULL,
  running INTEGER NOT NULL,
  ended_at INTEGER
);

CREATE INDEX operations_ended ON operations (ended_at) WHERE running = 0;

CREATE UNIQUE INDEX operations_running ON operations (resource_key) WHERE running = 1;

CREATE TABLE resources (
  key TEXT NOT NULL PRIMARY KEY,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  tracked INTEGER NOT NULL,
  unique_key TEXT UNIQUE,
  etag TEXT NOT NULL,
  generation INTEGER NOT NULL,
  document TEXT NOT NULL
);

CREATE INDEX resources_by_type ON resources (type, key);

CREATE INDEX resources_tracked ON resources (key) WHERE tracked = 1;

CREATE TABLE share_active (
  subscription_key text primary key,
  run_id text not null
);

CREATE TABLE share_details (
  run_id text not null,
  place bigint not null,
  mapping_key text not null,
  data_set_key text not null,
  data_set_id text not null,
  data_set_type text not null,
  name text not null,
  status text not null,
  message text,
  started_at bigint,
  ended_at bigint,
  files_read bigint not null,
  files_written bigint not null,
  rows_read bigint not null,
  rows_copied bigint not null,
  size_read bigint not null,
  size_written bigint not null,
  live_rows_read bigint not null,
  live_rows_copied bigint not null,
  live_size_read bigint not null,
  live_size_written bigint not null, publishing bigint not null default 0, by_message text generated always as (coalesce(message, '')) virtual, by_start bigint generated always as (coalesce(started_at, 0)) virtual, by_end bigint generated always as (coalesce(ended_at, 0)) virtual, by_duration bigint generated always as (case when started_at is null then -1 when ended_at is null then 9007199254740991 else ended_at - started_at end) virtual, by_rows_read bigint generated always as (rows_read + live_rows_read) virtual, by_rows_copied bigint generated always as (rows_copied + live_rows_copied) virtual, by_size_read bigint generated always as (size_read + live_size_read) virtual, by_size_written bigint generated always as (size_written + live_size_written) virtual,
  primary key (run_id, place)
);

CREATE INDEX share_details_by_by_duration on share_details (run_id, by_duration, place);

CREATE INDEX share_details_by_by_end on share_details (run_id, by_end, place);

CREATE INDEX share_details_by_by_message on share_details (run_id, by_message, place);

CREATE INDEX share_details_by_by_rows_copied on share_details (run_id, by_rows_copied, place);

CREATE INDEX share_details_by_by_rows_read on share_details (run_id, by_rows_read, place);

CREATE INDEX share_details_by_by_size_read on share_details (run_id, by_size_read, place);

CREATE INDEX share_details_by_by_size_written on share_details (run_id, by_size_written, place);

CREATE INDEX share_details_by_by_start on share_details (run_id, by_start, place);

CREATE INDEX share_details_by_data_set_id on share_details (run_id, data_set_id, place);

CREATE INDEX share_details_by_data_set_type on share_details (run_id, data_set_type, place);

CREATE INDEX share_details_by_files_read on share_details (run_id, files_read, place);

CREATE INDEX share_details_by_files_written on share_details (run_id, files_written, place);

CREATE INDEX share_details_by_name on share_details (run_id, name, place);

CREATE INDEX share_details_by_status on share_details (run_id, status, place);

CREATE TABLE share_grants (
  id text primary key,
  subscription_key text not null unique,
  share_key text not null,
  invitation_id text not null,
  status text not null,
  shared_at bigint not null,
  expires_at bigint,
  card text not null
);

CREATE INDEX share_grants_by_share on share_grants (share_key, id);

CREATE TABLE share_invitations (
  id text primary key,
  resource_key text not null unique,
  share_key text not null,
  tenant_id text,
  object_id text,
  email text,
  expires_at bigint,
  status text not null,
  sent_at bigint not null,
  responded_at bigint,
  card text not null
);

CREATE TABLE share_items (
  token text not null,
  stage text not null,
  item text not null,
  etag text not null,
  size bigint not null,
  digest text not null,
  run_id text not null,
  primary key (token, stage, item)
);

CREATE TABLE share_manifests (
  token text primary key,
  stage text not null,
  watermark text,
  owned bigint not null
, source text not null default '', target text not null default '');

CREATE TABLE share_parts (
  token text not null,
  stage text not null,
  item text not null,
  etag text not null,
  position bigint not null,
  primary key (token, stage, item)
);

CREATE TABLE share_runs (
  id text primary key,
  subscription_key text not null,
  share_key text not null,
  mode text not null,
  status text not null,
  message text,
  started_at bigint not null,
  ended_at bigint,
  cancelled bigint not null,
  planned bigint not null,
  lease_owner text,
  lease_until bigint not null,
  fence bigint not null
, turns_lost bigint not null default 0);

CREATE INDEX share_runs_by_share on share_runs (share_key, started_at, id);

CREATE INDEX share_runs_by_subscription on share_runs (subscription_key, started_at, id);

CREATE TABLE share_triggers (
  resource_key text primary key,
  subscription_key text not null,
  share_key text not null,
  mode text not null,
  every_milliseconds bigint not null,
  next_at bigint not null,
  body text not null
);

CREATE INDEX share_triggers_by_time on share_triggers (next_at);

CREATE TABLE store_migrations (
area TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (area, number));

CREATE TABLE store_settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE work (
  key TEXT NOT NULL PRIMARY KEY,
  due_at INTEGER NOT NULL,
  wanted_at INTEGER,
  lease_owner TEXT,
  lease_until INTEGER,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL
);

CREATE INDEX work_claimed ON work (lease_until) WHERE lease_owner IS NOT NULL;

CREATE INDEX work_due ON work (due_at, key);
