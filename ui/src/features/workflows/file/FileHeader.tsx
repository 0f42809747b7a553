import { Badge, NativeSelect } from '@mantine/core';
import { Pieces } from '@/shared/components/Words';
import type { ConfigFile, ConfigOverview, FileKind } from '@/shared/data/workflows';
import { usePlace } from '../place';
import classes from './FileView.module.css';

const KINDS: Record<FileKind, string> = {
  users: 'User',
  workflows: 'Workflow',
  'discussion-settings': 'Discussion settings',
  routing: 'Routing',
  endpoints: 'Endpoint',
  'api-types': 'API type',
  presets: 'Preset',
  'prompt-templates': 'Prompt template',
  other: 'Other',
};

/** Where the file is, what it is, and for a workflow whose eyes it is seen with. */
export function FileHeader({ tree, file }: { tree: ConfigOverview; file: ConfigFile }) {
  const { place, go } = usePlace();
  const parts = file.path.replace(/\.json$/i, '').split('/');
  return (
    <div className={classes.header}>
      <h2 className={classes.path}>
        {parts.map((part, at) => (
          <span key={at} className={at === parts.length - 1 ? undefined : classes.folder}>
            <bdi>
              <Pieces text={part} />
            </bdi>
            {at < parts.length - 1 && ' / '}
          </span>
        ))}
      </h2>
      <Badge variant="default" size="sm">
        {tree.root === null ? 'Built-in workflow' : KINDS[file.kind]}
      </Badge>
      {file.can_remember === false && (
        <Badge variant="default" size="sm" title="It runs no Recall and no Remember">
          Cannot remember
        </Badge>
      )}
      {file.kind === 'workflows' && tree.users.length > 1 && (
        <NativeSelect
          size="xs"
          className={classes.as}
          aria-label="See names as this user reads them"
          data={[
            { value: '', label: 'as its user' },
            ...tree.users.map(({ name }) => ({ value: name, label: `as ${name}` })),
          ]}
          value={place.user}
          onChange={event => go({ user: event.currentTarget.value }, { replace: true })}
        />
      )}
    </div>
  );
}
