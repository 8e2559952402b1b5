/**
 * The directory: users, groups and applications. Creates and deletes them, edits the members of groups, revokes
 * tokens.
 */

import { Button, Field, Input, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { useState } from 'react'
import { send } from '../../api/client.ts'
import { useListAt, useWrite } from '../../api/queries.ts'
import { person } from '../../api/session.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/code-block.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { FormDialog, problemAt } from '../../components/form-dialog.tsx'
import { Options } from '../../components/options.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { Table } from '../../components/table.tsx'
import { accessTexts, peopleTexts } from '../../texts/access.ts'
import { MemberCard } from './member-card.tsx'
import { type Kind, type Member, MemberOptions, useMembers } from './members.tsx'

/** A new member with the secret that is shown once. */
interface Made extends Member {
  readonly password?: string
  readonly clientSecret?: string
}

const useStyles = makeStyles({
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'end' },
  actions: { display: 'flex', gap: tokens.spacingHorizontalXS },
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
})

function signsInAs({ signInName, clientId, id }: Member): string {
  return signInName ?? clientId ?? id
}

export function People() {
  const styles = useStyles()
  const { kind: wanted = 'users', who } = useSearch()
  const setSearch = useSetSearch()
  const kind: Kind = wanted in peopleTexts.kinds ? (wanted as Kind) : 'users'
  const [adding, setAdding] = useState(false)
  const [made, setMade] = useState<Made>()
  const [opened, setOpened] = useState<Member>()
  const [leaving, setLeaving] = useState<Member>()
  const found = useListAt<Member>(`/directory/${kind}`)
  const path = ({ id }: Member): string => `/directory/${kind}/${encodeURIComponent(id)}`
  const revoke = useWrite((one: Member) => send('POST', `${path(one)}/revoke`))
  return (
    <>
      <div className={styles.bar}>
        <Field label={peopleTexts.kind}>
          <Select
            value={kind}
            onChange={(_, { value }) => setSearch({ kind: value, who: undefined })}
          >
            <Options of={peopleTexts.kinds} />
          </Select>
        </Field>
        <Button appearance="primary" icon={<AddRegular />} onClick={() => setAdding(true)}>
          {peopleTexts.add[kind]}
        </Button>
      </div>
      {made !== undefined && <Credentials made={made} />}
      {revoke.error !== null && <Refusal failure={revoke.error} />}
      {who !== undefined && <MemberCard key={who} kind={kind} id={who} />}
      <Table
        {...found}
        label={peopleTexts.kinds[kind]}
        name="people"
        keyOf={({ id }) => id}
        columns={[
          {
            id: 'name',
            title: peopleTexts.name,
            text: ({ displayName }) => displayName,
            show: ({ id, displayName }) => (
              <AppLink to={`/access?view=people&kind=${kind}&who=${encodeURIComponent(id)}`}>
                <bdi>{displayName}</bdi>
              </AppLink>
            ),
            grow: 2,
          },
          {
            id: 'signIn',
            title: peopleTexts.signInName,
            text: signsInAs,
            wideOnly: true,
            grow: 2,
          },
          {
            id: 'actions',
            title: peopleTexts.actions,
            text: () => '',
            grow: 3,
            show: (one) => (
              <span className={styles.actions}>
                {kind === 'groups' ? (
                  <Button
                    size="small"
                    aria-label={`${peopleTexts.members}: ${one.displayName}`}
                    onClick={() => setOpened(one)}
                  >
                    {peopleTexts.members}
                  </Button>
                ) : (
                  <Button
                    size="small"
                    aria-label={`${peopleTexts.revoke}: ${one.displayName}`}
                    title={peopleTexts.revokeWhat}
                    disabled={revoke.isPending}
                    onClick={() => revoke.mutate(one)}
                  >
                    {peopleTexts.revoke}
                  </Button>
                )}
                <Button
                  size="small"
                  aria-label={`${peopleTexts.delete}: ${one.displayName}`}
                  disabled={one.id === person()?.id}
                  onClick={() => setLeaving(one)}
                >
                  {peopleTexts.delete}
                </Button>
              </span>
            ),
          },
        ]}
        empty={{ title: peopleTexts.none }}
      />
      {opened !== undefined && kind === 'groups' && <Members key={opened.id} group={opened} />}
      {leaving !== undefined && (
        <DeleteMember
          kind={kind}
          name={leaving.displayName}
          path={path(leaving)}
          onClose={() => setLeaving(undefined)}
        />
      )}
      {adding && (
        <AddMember
          kind={kind}
          onClose={(one) => {
            setAdding(false)
            if (one !== undefined) setMade(one)
          }}
        />
      )}
    </>
  )
}

function DeleteMember({
  kind,
  name,
  path,
  onClose,
}: {
  readonly kind: Kind
  readonly name: string
  readonly path: string
  readonly onClose: () => void
}) {
  const remove = useWrite(() => send('DELETE', path))
  return (
    <FormDialog
      title={peopleTexts.deleteTitle(name)}
      submit={peopleTexts.delete}
      busy={remove.isPending}
      failure={remove.error}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined, { onSuccess: onClose })}
    >
      <Text>{peopleTexts.deleteText[kind]}</Text>
    </FormDialog>
  )
}

/** A generated password or secret. Nobody can read it later. */
function Credentials({ made }: { readonly made: Made }) {
  const secret = made.password ?? made.clientSecret
  if (secret === undefined) return null
  return (
    <Card title={peopleTexts.onlyNow(made.displayName)}>
      <Text>
        {signsInAs(made)}: <code>{secret}</code> <CopyButton text={secret} />
      </Text>
    </Card>
  )
}

function AddMember({
  kind,
  onClose,
}: {
  readonly kind: Kind
  readonly onClose: (made?: Made) => void
}) {
  const [displayName, setDisplayName] = useState('')
  const [signInName, setSignInName] = useState('')
  const [password, setPassword] = useState('')
  const write = useWrite(
    async (body: object) => (await send<Made>('POST', `/directory/${kind}`, { body })).body,
  )
  const isUser = kind === 'users'
  return (
    <FormDialog
      title={peopleTexts.add[kind]}
      submit={peopleTexts.addNow}
      busy={write.isPending}
      ready={displayName !== '' && (!isUser || signInName !== '')}
      failure={write.error}
      onClose={() => onClose()}
      onSubmit={() =>
        write.mutate(
          {
            displayName,
            ...(isUser ? { signInName } : {}),
            ...(isUser && password !== '' ? { password } : {}),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Field
        label={peopleTexts.name}
        required
        validationMessage={problemAt(write.error, 'displayName')}
      >
        <Input value={displayName} onChange={(_, { value }) => setDisplayName(value)} />
      </Field>
      {isUser && (
        <>
          <Field
            label={peopleTexts.signInName}
            required
            validationMessage={problemAt(write.error, 'signInName')}
          >
            <Input
              autoComplete="off"
              value={signInName}
              onChange={(_, { value }) => setSignInName(value)}
            />
          </Field>
          <Field
            label={peopleTexts.password}
            hint={peopleTexts.passwordHint}
            validationMessage={problemAt(write.error, 'password')}
          >
            <Input
              type="password"
              autoComplete="new-password"
              value={password}
              onChange={(_, { value }) => setPassword(value)}
            />
          </Field>
        </>
      )}
    </FormDialog>
  )
}

function Members({ group }: { readonly group: Member }) {
  const styles = useStyles()
  const [who, setWho] = useState('')
  const path = `/directory/groups/${encodeURIComponent(group.id)}/members`
  const found = useListAt<Member>(path)
  const all = useMembers()
  const change = useWrite(({ method, id }: { method: 'PUT' | 'DELETE'; id: string }) =>
    send(method, `${path}/${encodeURIComponent(id)}`),
  )
  const failure = found.error ?? change.error ?? all.error
  return (
    <Card title={peopleTexts.membersOf(group.displayName)}>
      <EmptyText found={found} rows={found.rows} text={peopleTexts.noMembers} />
      <ul className={styles.list}>
        {found.rows.map(({ id, displayName }) => (
          <li key={id} className={styles.line}>
            <bdi>{displayName}</bdi>
            <Button
              size="small"
              aria-label={`${peopleTexts.takeOut}: ${displayName}`}
              disabled={change.isPending}
              onClick={() => change.mutate({ method: 'DELETE', id })}
            >
              {peopleTexts.takeOut}
            </Button>
          </li>
        ))}
      </ul>
      <div className={styles.bar}>
        <Field label={accessTexts.person}>
          <Select value={who} onChange={(_, { value }) => setWho(value)}>
            <MemberOptions members={all.members.filter(({ id }) => id !== group.id)} />
          </Select>
        </Field>
        <Button
          disabled={who === '' || change.isPending}
          onClick={() => change.mutate({ method: 'PUT', id: who })}
        >
          {peopleTexts.putIn}
        </Button>
      </div>
      {failure !== null && <Refusal failure={failure} />}
    </Card>
  )
}
