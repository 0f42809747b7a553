import type { ReactNode } from 'react';
import { Words } from '@/shared/components/Words';
import type { Status } from '@/shared/data/status';
import { Facts } from './Facts';
import { plural } from './format';
import { Section } from '@/shared/components/Section';

/** The settings that decide what is remembered and kept. */
export function Choices({ choices }: { choices: Status['choices'] }) {
  const tree: [string, ReactNode][] = choices.config_dir
    ? [
        ['Config tree', <Words key="tree">{choices.config_dir}</Words>],
        ['Users', <Words key="users">{choices.workflow_users.join(', ')}</Words>],
      ]
    : [];
  return (
    <Section title="Settings in use">
      <Facts
        facts={[
          ['Default project', choices.default_project],
          ['Default user', choices.default_user],
          ['Memories fade', choices.decay_days === null ? 'never' : `after ${plural(choices.decay_days, 'day')}`],
          ['Memories per prompt', `at most ${choices.search_limit}`],
          ['Chats kept', kept(choices)],
          ['Models see', choices.history === 'server' ? 'the stored window' : 'what the app sends'],
          ['Window', `${choices.strategy}, ${choices.max_history_tokens.toLocaleString()} tokens`],
          ['Titles of chats', choices.names_chats ? 'written by the model' : unnamed(choices)],
          ['Runs recorded', choices.keeps_runs ? 'yes' : 'no'],
          ...tree,
        ]}
      />
    </Section>
  );
}

function unnamed(choices: Status['choices']): string {
  return choices.config_dir ? 'their first words: server.title_endpoint is not set' : 'their first words';
}

function kept(choices: Status['choices']): string {
  if (choices.keeps_all_chats) return 'all';
  return choices.keeps_named_chats ? 'those with a session ID' : 'none';
}
