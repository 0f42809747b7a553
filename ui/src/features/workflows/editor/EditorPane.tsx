import { ActionIcon, Badge, Text, Tooltip } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { TbDownload } from 'react-icons/tb';
import { saveFile } from '@/shared/files/files';
import { CopyButton } from '@/shared/components/CopyButton';
import { ErrorState, LoadingState } from '@/shared/components/states';
import {
  type ConfigOverview,
  type ConfigProblem,
  type FileKind,
  useConfigSchema,
  useConfigText,
} from '@/shared/data/workflows';
import type { Draft } from '../drafts';
import { SaveTools } from '../saving/SaveTools';
import classes from './EditorPane.module.css';
import { namesFor } from './namesFor';

const JsonEditor = lazy(() => import('./JsonEditor'));

interface EditorPaneProps {
  tree: ConfigOverview;
  path: string;
  kind: FileKind;
  problems: readonly ConfigProblem[];
  at: string;
  /** What was changed of the file in this tab, undefined for nothing. */
  draft: Draft | undefined;
  onDraft: (draft: Draft | undefined) => void;
  onMove: (at: string) => void;
}

/** The JSON of a file. It can be changed, checked as it is typed, copied, and where the server allows it, saved. */
export function EditorPane({ tree, path, kind, problems, at, draft, onDraft, onMove }: EditorPaneProps) {
  const { data: file, error, refetch } = useConfigText(path);
  const { data: schema } = useConfigSchema(kind);
  const [round, setRound] = useState(0); // a new one begins the editor anew
  const names = useMemo(() => namesFor(tree, path), [tree, path]);
  const told = useMemo(() => problems.filter(problem => problem.file === path), [problems, path]);
  const text = draft?.text ?? file?.text ?? '';
  const discard = () => {
    onDraft(undefined);
    setRound(round + 1);
  };
  return (
    <section className={classes.pane} aria-label="JSON">
      <div className={classes.bar}>
        <Text size="xs" fw={600} ff="monospace">
          JSON
        </Text>
        {file?.is_redacted && (
          <Tooltip label="Keys and passwords are never sent to a browser">
            <Badge size="sm" variant="default" tabIndex={0}>
              secrets hidden
            </Badge>
          </Tooltip>
        )}
        {file && <SaveTools file={file} draft={draft} onDraft={onDraft} onDiscard={discard} />}
        <span className={classes.tools}>
          <CopyButton text={text} label="Copy text" />
          <Tooltip label="Download">
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label="Download"
              onClick={() => saveFile(new Blob([text], { type: 'application/json' }), path.split('/').at(-1) ?? path)}
            >
              <TbDownload size={16} />
            </ActionIcon>
          </Tooltip>
        </span>
      </div>
      <div className={classes.body}>
        {error ? (
          <ErrorState error={error} title="This file cannot be shown" onRetry={() => void refetch()} />
        ) : !file ? (
          <LoadingState label="Loading the file" />
        ) : (
          <Suspense fallback={<LoadingState label="Loading the editor" />}>
            <JsonEditor
              key={`${path} ${round}`}
              label={`JSON of ${path}`}
              original={file.text}
              draft={draft?.text}
              schema={schema}
              names={names}
              told={told}
              place={at}
              onEdit={changed =>
                onDraft(changed === file.text ? undefined : { text: changed, base: draft?.base ?? file.digest })
              }
              onMove={onMove}
            />
          </Suspense>
        )}
      </div>
    </section>
  );
}
