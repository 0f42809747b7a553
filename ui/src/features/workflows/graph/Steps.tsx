import { Badge, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Words } from '@/shared/components/Words';
import type { GraphCall, GraphNode, WorkflowGraph } from '@/shared/data/workflows';
import { addressOf } from '../place';
import classes from './Steps.module.css';
import { conditionOf } from './words';

interface StepsProps {
  graph: WorkflowGraph;
  current: number;
  user: string;
  onPick: (at: string) => void;
}

/** A workflow in words: the same as the graph, as a list. */
export function Steps({ graph, current, user, onPick }: StepsProps) {
  return (
    <ol className={classes.steps} aria-label={`Steps of ${graph.path}`}>
      {graph.nodes.map(step => (
        <li key={step.number} className={classes.step} data-current={step.number === current || undefined}>
          <StepHead step={step} isCurrent={step.number === current} onPick={onPick} />
          {step.description && (
            <Text size="xs" c="dimmed">
              {step.description}
            </Text>
          )}
          <dl className={classes.facts}>
            {step.endpoint && <Fact name="Asks" path={step.endpoint_path} user={user} text={asked(step)} />}
            {step.preset && <Fact name="Preset" text={step.preset} />}
            {step.uses.length > 0 && <Reads step={step} onPick={onPick} />}
            {step.calls.map(call => (
              <Runs key={call.at} call={call} user={user} />
            ))}
          </dl>
        </li>
      ))}
    </ol>
  );
}

function StepHead({
  step,
  isCurrent,
  onPick,
}: {
  step: GraphNode;
  isCurrent: boolean;
  onPick: StepsProps['onPick'];
}) {
  return (
    <div className={classes.head}>
      <span className={classes.number} aria-hidden>
        {step.number}
      </span>
      <div>
        <button
          type="button"
          className={classes.title}
          aria-current={isCurrent ? 'step' : undefined}
          onClick={() => onPick(step.at)}
        >
          <Words>{step.title}</Words>
        </button>
        <Group gap="xs">
          <Text size="xs" ff="monospace" c={step.kind ? undefined : 'var(--mantine-color-error)'}>
            {step.kind ?? `${step.type}?`}
          </Text>
          {step.role === 'answers' && <Badge size="xs">answers</Badge>}
          {step.role === 'behind' && (
            <Badge size="xs" variant="default">
              after the answer
            </Badge>
          )}
        </Group>
      </div>
    </div>
  );
}

interface FactProps {
  name: string;
  text: string;
  path?: string | null;
  user?: string;
}

function Fact({ name, text, path, user }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {path ? (
          <Link to={addressOf(path, '', user)}>
            <Words>{text}</Words>
          </Link>
        ) : (
          <Words>{text}</Words>
        )}
      </dd>
    </div>
  );
}

/** Variables, each once, leading to the first text that names it. */
function Reads({ step, onPick }: { step: GraphNode; onPick: StepsProps['onPick'] }) {
  const first = new Map(step.uses.toReversed().map(use => [use.name, use]));
  return (
    <div>
      <dt>Reads</dt>
      <dd className={classes.names}>
        {[...first.values()].toReversed().map(use => (
          <button key={use.name} type="button" className={classes.variable} onClick={() => onPick(use.at)}>
            {`{${use.name}}`}
          </button>
        ))}
      </dd>
    </div>
  );
}

function Runs({ call, user }: { call: GraphCall; user: string }) {
  const name = call.when === null ? 'Runs' : `Runs, ${conditionOf(call.when)}`;
  const text = call.path ? call.name : `${call.name || 'no name'} (known only at run time, or missing)`;
  return <Fact name={name} text={text} path={call.path} user={user} />;
}

const asked = (step: GraphNode) => [step.endpoint, step.model && `(${step.model})`].filter(Boolean).join(' ');
