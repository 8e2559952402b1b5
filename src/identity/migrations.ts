/**
 * The tables of identity, in the SQL subset of both dialects. They hold no secret in the clear: passwords and
 * client secrets are hashed, private keys and sign-in state are sealed.
 */

import type { Migration } from '#stores/store.ts'

const first: readonly string[] = [
  `create table identity_principals (
    id text primary key,
    type text not null,
    display_name text not null,
    sign_in_name text,
    sign_in_key text unique,
    client_id text unique,
    redirect_uris text not null,
    enabled bigint not null,
    created_at bigint not null
  )`,
  'create index identity_principals_by_type on identity_principals (type, id)',
  `create table identity_credentials (
    id text primary key,
    principal_id text not null,
    kind text not null,
    hash text not null,
    display_name text not null,
    created_at bigint not null,
    expires_at bigint
  )`,
  'create index identity_credentials_by_principal on identity_credentials (principal_id, kind)',
  `create table identity_memberships (
    group_id text not null,
    member_id text not null,
    primary key (group_id, member_id)
  )`,
  'create index identity_memberships_by_member on identity_memberships (member_id, group_id)',
  `create table identity_oauth_states (
    kind text not null,
    id text not null,
    payload text not null,
    uid text,
    user_code text,
    grant_id text,
    account_id text,
    consumed_at bigint,
    expires_at bigint not null,
    primary key (kind, id)
  )`,
  'create index identity_oauth_states_by_uid on identity_oauth_states (uid)',
  'create index identity_oauth_states_by_user_code on identity_oauth_states (user_code)',
  'create index identity_oauth_states_by_grant on identity_oauth_states (grant_id)',
  'create index identity_oauth_states_by_account on identity_oauth_states (account_id)',
  'create index identity_oauth_states_by_expiry on identity_oauth_states (expires_at)',
  `create table identity_consents (
    principal_id text not null,
    client_id text not null,
    scope text not null,
    granted_at bigint not null,
    primary key (principal_id, client_id)
  )`,
  `create table identity_signing_keys (
    id text primary key,
    public_key text not null,
    private_key text,
    created_at bigint not null,
    retired_at bigint
  )`,
  `create table identity_sign_in_failures (
    id text primary key,
    failures bigint not null,
    locked_until bigint not null,
    forget_at bigint not null
  )`,
  'create index identity_sign_in_failures_by_expiry on identity_sign_in_failures (forget_at)',
  `create table identity_settings (
    name text primary key,
    value text not null
  )`,
]

/** The custom attributes as JSON; null for none. */
const second: readonly string[] = ['alter table identity_principals add column attributes text']

/** The resource that a service principal belongs to. */
const third: readonly string[] = [
  `create table identity_workloads (
    resource_key text primary key,
    principal_id text not null
  )`,
]

/** A token of an earlier generation than its principal's is refused. Sessions can be listed and ended. */
const fourth: readonly string[] = [
  'alter table identity_principals add column generation bigint not null default 0',
  `create table identity_sessions (
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
  )`,
  'create index identity_sessions_by_key on identity_sessions (session_key)',
  'create index identity_sessions_by_principal on identity_sessions (principal_id, created_at)',
  'create index identity_sessions_by_end on identity_sessions (ended_at)',
  'create index identity_sessions_by_start on identity_sessions (created_at)',
  'create index identity_sessions_by_use on identity_sessions (used_at)',
]

/** An application without a secret, for command lines, devices and programs on a person's own machine. */
const fifth: readonly string[] = [
  'alter table identity_principals add column public_client bigint not null default 0',
]

/** A code that is redeemed twice ends the session of its grant. */
const sixth: readonly string[] = [
  'create index identity_sessions_by_grant on identity_sessions (grant_id)',
]

/** What people have with an application is found by its client id, with what nobody has redeemed yet. */
const seventh: readonly string[] = [
  'alter table identity_oauth_states add column client_id text',
  'create index identity_oauth_states_by_client on identity_oauth_states (client_id)',
  'create index identity_sessions_by_client on identity_sessions (client_id)',
]

export const identityMigrations: readonly Migration[] = [
  { area: 'identity', number: 1, sqlite: first, postgres: first },
  { area: 'identity', number: 2, sqlite: second, postgres: second },
  { area: 'identity', number: 3, sqlite: third, postgres: third },
  { area: 'identity', number: 4, sqlite: fourth, postgres: fourth },
  { area: 'identity', number: 5, sqlite: fifth, postgres: fifth },
  { area: 'identity', number: 6, sqlite: sixth, postgres: sixth },
  { area: 'identity', number: 7, sqlite: seventh, postgres: seventh },
]
