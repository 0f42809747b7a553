import { Badge, NativeSelect } from '@mantine/core';
import { Pieces } from '@/shared/components/Words';
import type { ConfigFile, ConfigOverview, FileKind } from '@/shared/data/workflows';
import { usePlace } from '../place';
import classes from './FileView.module.css';

/** What the folder of a file does not say. */
const KINDS: Partial<Record<FileKind, string>> = { 'discussion-settings': 'Discussion settings' };

/** Where the file is, and for a workflow whose eyes it is seen with. */
export function FileHeader({ tree, file }: { tree: ConfigOverview; file: ConfigFile }) {
  const { place, go } = usePlace();
  const whole = file.path.replace(/\.json$/i, '').split('/');
  const parts = file.kind === 'workflows' && whole.length > 1 ? whole.slice(1) : whole; // the page's title says that
  const kind = tree.root === null ? 'Built-in' : KINDS[file.kind];
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
      {kind && (
        <Badge variant="default" size="sm">
          {kind}
        </Badge>
      )}
      {file.can_remember === false && (
        <Badge variant="default" size="sm" title="It has no Recall or Remember node">
          No memory
        </Badge>
      )}
      {file.kind === 'workflows' && tree.users.length > 1 && (
        <NativeSelect
          size="xs"
          className={classes.as}
          aria-label="Show names as this user sees them"
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
