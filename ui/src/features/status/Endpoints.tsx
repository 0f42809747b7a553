import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Endpoint, Status } from '@/shared/data/status';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import classes from './Endpoints.module.css';
import { plural } from './format';
import { Section } from '@/shared/components/Section';
import { StateBadge } from './StateBadge';

const FEW = 8;
const MORE = 100;

const PROTOCOLS: Record<NonNullable<Endpoint['kind']>, string> = {
  'openai-chat': 'OpenAI protocol, chat',
  'openai-completions': 'OpenAI protocol, text',
  koboldcpp: 'KoboldCpp',
  'ollama-chat': 'Ollama, chat',
  'ollama-generate': 'Ollama, text',
};

/** The models of the config tree, those with problems first; of many, only some until more are asked for. */
export function Endpoints({ endpoints }: { endpoints: Status['endpoints'] }) {
  const { params, change } = useAddressParams();
  const most = Math.max(FEW, Number(params.get('endpoints')) || 0);
  const show = (count: number | null) =>
    change({ endpoints: count === null ? null : String(count) }, { replace: true });
  const left = endpoints.length - most;
  if (endpoints.length === 0) return null;
  return (
    <Section title="Endpoints" aside={<Text size="sm">{summary(endpoints)}</Text>}>
      <ul className={classes.list} aria-label="Endpoints">
        {endpoints.slice(0, most).map(endpoint => (
          <Row key={`${endpoint.path ?? ''} ${endpoint.name}`} endpoint={endpoint} />
        ))}
      </ul>
      <Group gap="xs" mt={left > 0 || most > FEW ? 'sm' : 0}>
        {left > 0 && (
          <Button size="xs" variant="default" onClick={() => show(most + Math.min(left, MORE))}>
            Show {Math.min(left, MORE)} more
          </Button>
        )}
        {most > FEW && (
          <Button size="xs" variant="subtle" onClick={() => show(null)}>
            Show only the first {FEW}
          </Button>
        )}
      </Group>
    </Section>
  );
}

function Row({ endpoint }: { endpoint: Endpoint }) {
  const { name, path, state, problem, to_do, kind, address, model } = endpoint;
  const what = [model, kind ? PROTOCOLS[kind] : '', address ?? ''].filter(Boolean);
  return (
    <li className={classes.row}>
      <div className={classes.name}>
        {path === null ? (
          <Words limit={80}>{name}</Words>
        ) : (
          <Anchor component={Link} to={fileOf(path)} inherit>
            <Words limit={80}>{name}</Words>
          </Anchor>
        )}
      </div>
      <div className={classes.state}>
        <StateBadge state={state} />
      </div>
      <div className={classes.what}>
        {what.map((words, at) => (
          <span key={at}>
            <Words limit={120}>{words}</Words>
          </span>
        ))}
      </div>
      <div className={classes.calls}>
        <LastCall endpoint={endpoint} />
      </div>
      {problem && (
        <div className={classes.problem}>
          <Text size="sm" fw={550}>
            <Words limit={400}>{problem}</Words>
          </Text>
          <Text size="sm">
            <Words limit={400}>{to_do}</Words> <NamedIn files={endpoint.named_in} />
          </Text>
        </div>
      )}
    </li>
  );
}

function LastCall({ endpoint: { answered_at, failed_at } }: { endpoint: Endpoint }) {
  if (failed_at !== null && failed_at > (answered_at ?? ''))
    return (
      <>
        call failed <Time value={failed_at} ago />
      </>
    );
  if (answered_at === null) return 'not called yet';
  return (
    <>
      answered <Time value={answered_at} ago />
    </>
  );
}

/** Where an endpoint with a problem is missed. */
function NamedIn({ files }: { files: string[] }) {
  const [first, ...others] = files;
  if (first === undefined) return null;
  return (
    <Text span inherit c="dimmed">
      Named in{' '}
      <Anchor component={Link} to={fileOf(first)} inherit>
        <Words limit={120}>{first}</Words>
      </Anchor>
      {others.length > 0 && ` and ${plural(others.length, 'other file')}`}.
    </Text>
  );
}

function fileOf(path: string): string {
  return `/workflows?file=${encodeURIComponent(path)}`;
}

function summary(endpoints: Status['endpoints']): string {
  const ill = endpoints.filter(({ state }) => state === 'warn' || state === 'fail').length;
  const unknown = endpoints.filter(({ state }) => state === null).length;
  const well = endpoints.length - ill - unknown;
  return [
    ill > 0 ? `${ill.toLocaleString()} with problems` : '',
    unknown > 0 ? `${unknown.toLocaleString()} not checked yet` : '',
    well > 0 ? `${well.toLocaleString()} OK` : '',
  ]
    .filter(Boolean)
    .join(', ');
}
