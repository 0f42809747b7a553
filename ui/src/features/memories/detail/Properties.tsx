import { Anchor, Code } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { CopyButton } from '@/shared/components/CopyButton';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { ListedMemory } from '@/shared/data/memories/list';
import { sentenceOf } from '../list/DecayMeter';
import { DecayMeter } from '../list/DecayMeter';
import classes from './detail.module.css';
import { ORIGIN_NAMES } from './reasons';

/** What is known of a memory besides its words. */
export function Properties({ memory }: { memory: ListedMemory }) {
  const { agent_id, app_id, run_id, role, name } = memory;
  const session = memory.metadata?.session_id;
  return (
    <dl className={classes.properties}>
      <Property name="State">
        <div className={classes.state}>
          <DecayMeter
            state={memory.state}
            renewedAt={memory.updated_at}
            decaysAt={memory.decays_at}
            expiresOn={memory.expiration_date}
          />
          <span>{sentenceOf(memory.state, memory.decays_at, memory.expiration_date)}</span>
        </div>
      </Property>
      <Property name="Kind">{memory.kind === 'fact' ? 'Fact' : 'Message'}</Property>
      <Property name="Origin">{ORIGIN_NAMES[memory.origin]}</Property>
      <Property name="Learned">
        <Time value={memory.created_at} />
      </Property>
      {memory.updated_at !== memory.created_at && (
        <Property name="Changed">
          <Time value={memory.updated_at} />
        </Property>
      )}
      {typeof session === 'string' && (
        <Property name="Conversation">
          <Anchor size="sm" component={Link} to={`/conversations?id=${encodeURIComponent(session)}`}>
            <Words>{session}</Words>
          </Anchor>
        </Property>
      )}
      {Object.entries({ Speaker: name, Role: role, Agent: agent_id, App: app_id, Run: run_id }).map(
        ([label, value]) =>
          value && (
            <Property key={label} name={label}>
              <Words>{value}</Words>
            </Property>
          ),
      )}
      <Property name="ID">
        <div className={classes.id}>
          <Code>{memory.id}</Code>
          <CopyButton text={memory.id} label="Copy ID" />
        </div>
      </Property>
      {memory.metadata && Object.keys(memory.metadata).length > 0 && (
        <Property name="Metadata">
          <div className={classes.metadata}>
            <Words limit={2000}>{JSON.stringify(memory.metadata, null, 1)}</Words>
          </div>
        </Property>
      )}
    </dl>
  );
}

function Property({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
