import { Alert, Button, Group, Modal, Text } from '@mantine/core';
import { TbAlertTriangle } from 'react-icons/tb';
import { ApiError } from '@/shared/api/errors';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type ConfigProblem, type ConfigText, useSaveWorkflow, useTextCheck } from '@/shared/data/workflows';
import type { Draft } from '../drafts';
import { DiffBox } from './DiffBox';
import classes from './Saving.module.css';

interface SaveDialogProps {
  /** The file as it is on the server. */
  file: ConfigText;
  draft: Draft;
  onSaved: () => void;
  /** Called to go on with what is on the server. */
  onTakeTheirs: () => void;
  onClose: () => void;
}

/** What saving would change, what the check says of it, and what somebody else changed meanwhile. */
export function SaveDialog({ file, draft, onSaved, onTakeTheirs, onClose }: SaveDialogProps) {
  const { path } = file;
  const { data: found, error, refetch } = useTextCheck(path, draft.text);
  const save = useSaveWorkflow();
  const isConflict = draft.base !== file.digest;
  const isStale = save.error instanceof ApiError && save.error.status === 412;
  return (
    <Modal opened onClose={onClose} title="Save the workflow" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      {isConflict && (
        <Alert color="yellow" icon={<TbAlertTriangle aria-hidden />} title="Someone else changed this file">
          The file on the server has changed since you opened it. Your version is compared with theirs below.
        </Alert>
      )}
      {error ? (
        <ErrorState error={error} title="Could not check the text" onRetry={() => void refetch()} />
      ) : found ? (
        <CheckResult problems={found.problems} errors={found.errors} />
      ) : (
        <LoadingState label="Checking the text" />
      )}
      <DiffBox
        label={isConflict ? 'Your version compared with theirs' : 'Your changes'}
        before={file.text}
        after={draft.text}
      />
      {save.error && !isStale && <ErrorState error={save.error} title="Could not save" />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        {isConflict && (
          <Button variant="default" onClick={onTakeTheirs}>
            Take theirs
          </Button>
        )}
        <Button
          loading={save.isPending}
          disabled={!found || found.errors > 0}
          onClick={() => save.mutate({ path, text: draft.text, digest: file.digest }, { onSuccess: onSaved })}
        >
          {isConflict ? 'Overwrite theirs' : 'Save'}
        </Button>
      </Group>
    </Modal>
  );
}

function CheckResult({ problems, errors }: { problems: readonly ConfigProblem[]; errors: number }) {
  if (!problems.length)
    return (
      <Text size="sm" c="dimmed">
        No problems found.
      </Text>
    );
  return (
    <Alert
      color={errors ? 'red' : 'yellow'}
      variant="light"
      title={errors ? 'Fix these errors before saving' : 'Can be saved, with warnings'}
    >
      <ul className={classes.problems}>
        {problems.map(({ file, path, level, cause, fix }) => (
          <li key={`${file} ${path} ${cause}`}>
            <Text size="sm">
              {level === 'error' ? 'Error: ' : 'Warning: '}
              <Words>{`${cause} ${fix}`}</Words> <code>{path}</code>
            </Text>
          </li>
        ))}
      </ul>
    </Alert>
  );
}
