import { Alert, Anchor, Code, List, Stack, Text } from '@mantine/core';
import { TbInfoCircle } from 'react-icons/tb';
import { Link } from 'react-router';
import { CodeBlock } from '@/shared/components/CodeBlock';
import { CopyButton } from '@/shared/components/CopyButton';
import { useMay } from '@/shared/data/access';
import type { ClientSeen } from '@/shared/data/status';
import classes from './ClientSetup.module.css';
import { LastCall } from './LastCall';
import type { Field, Setup } from './setups';
import { isPlain, KEY_PLACEHOLDER, type Place } from './snippets';

interface ClientSetupProps {
  setup: Setup;
  place: Place;
  /** null where the caller may not see who calls. */
  seen: ClientSeen[] | null;
}

/** One client: whether it calls, and what to fill in or to run so that it does. */
export function ClientSetup({ setup, place, seen }: ClientSetupProps) {
  const may = useMay();
  const fields = setup.fields?.(place).filter(field => field.value !== '');
  return (
    <Stack gap="md">
      {seen && <LastCall seen={seen} kinds={setup.kinds} perhaps={setup.perhaps} name={setup.name} />}
      <Text size="sm">{setup.where}</Text>
      {fields && <Fields fields={fields} />}
      {setup.code && (
        <div className={classes.code}>
          {setup.code.install && <CodeBlock language="sh" text={setup.code.install} />}
          <CodeBlock language={setup.code.language} text={setup.code.of(place)} />
        </div>
      )}
      {setup.choices?.map(({ name, language, of }) => (
        <section key={name} aria-label={name} className={classes.code}>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <CodeBlock language={language} text={of(place)} />
        </section>
      ))}
      {place.needsKey && (
        <Text size="sm">
          Use an API key instead of <Code>{KEY_PLACEHOLDER}</Code>
          {may.manage ? (
            <>
              ;{' '}
              <Anchor component={Link} to="/keys?part=keys" inherit underline="always">
                make one for this app
              </Anchor>
              , so you can revoke it on its own.
            </>
          ) : (
            '. An admin makes one for you.'
          )}
        </Text>
      )}
      {setup.fields && !isPlain(place.user) && (
        <Alert color="yellow" variant="light" icon={<TbInfoCircle aria-hidden />}>
          The user name has characters that HTTP headers cannot carry, so it is left out here.
        </Alert>
      )}
      {setup.notes && (
        <List size="sm" spacing="xs" c="dimmed">
          {setup.notes(place).map(note => (
            <List.Item key={note}>{note}</List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}

function Fields({ fields }: { fields: Field[] }) {
  return (
    <dl className={classes.fields}>
      {fields.map(({ label, value }) => (
        <div key={label} className={classes.field}>
          <dt>{label}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} label={`Copy ${label}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
