import { Button, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { TbFilePlus, TbFileUnknown, TbFolder } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { type ConfigOverview, useConfigProblems, useConfigTree, useSaving } from '@/shared/data/workflows';
import { useDialog } from '@/shared/hooks/useDialog';
import type { Draft } from './drafts';
import { FileView } from './file/FileView';
import { usePlace } from './place';
import { NewWorkflowDialog } from './saving/NewWorkflowDialog';
import { TreePane } from './tree/TreePane';
import classes from './WorkflowsPage.module.css';

/** The config tree: its files at the left, and one of them. Workflows can be saved where the server allows it. */
export function WorkflowsPage() {
  const { data: tree, error, refetch } = useConfigTree();
  const { data: saving } = useSaving();
  const { place, go } = usePlace();
  const [filesOpen, files] = useDisclosure(false);
  const dialog = useDialog<'new'>();
  return (
    <PageFrame
      title="Workflows"
      fill
      actions={
        tree?.root && (
          <>
            {saving?.is_on && (
              <Button
                size="xs"
                variant="default"
                leftSection={<TbFilePlus size={16} />}
                onClick={() => dialog.open('new')}
              >
                New workflow
              </Button>
            )}
            <Button
              className={classes.toFiles}
              size="xs"
              variant="default"
              leftSection={<TbFolder size={16} />}
              onClick={files.open}
            >
              Files
            </Button>
          </>
        )
      }
    >
      {error ? (
        <ErrorState error={error} title="The config tree could not be loaded" onRetry={() => void refetch()} />
      ) : tree ? (
        <Tree tree={tree} filesOpen={filesOpen} onClose={files.close} />
      ) : (
        <LoadingState label="Loading the config tree" />
      )}
      {dialog.shown && tree && (
        <NewWorkflowDialog
          tree={tree}
          folder={(place.file || firstFile(tree)).split('/').slice(0, -1).join('/')}
          onMade={file => {
            dialog.close();
            go({ file, at: '', view: '' });
          }}
          onClose={dialog.close}
        />
      )}
    </PageFrame>
  );
}

interface TreeProps {
  tree: ConfigOverview;
  filesOpen: boolean;
  onClose: () => void;
}

function Tree({ tree, filesOpen, onClose }: TreeProps) {
  const { place } = usePlace();
  const { data: problems } = useConfigProblems();
  const [drafts, setDrafts] = useState<ReadonlyMap<string, Draft>>(new Map());
  const path = place.file || firstFile(tree);
  const file = tree.files.find(one => one.path === path);
  const pane = <TreePane files={tree.files} problems={problems?.problems ?? []} current={path} onPick={onClose} />;
  const change = (draft: Draft | undefined) => {
    const after = new Map(drafts);
    if (draft === undefined) after.delete(path);
    else after.set(path, draft);
    setDrafts(after);
  };
  return (
    <div className={classes.page}>
      {tree.root !== null && (
        <aside className={classes.tree} aria-label="Config tree">
          {pane}
        </aside>
      )}
      <Drawer
        opened={filesOpen}
        onClose={onClose}
        title="Files"
        size="sm"
        classNames={{ content: classes.drawer ?? '', body: classes.drawerBody ?? '' }}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {pane}
      </Drawer>
      {file ? (
        <FileView
          key={file.path}
          tree={tree}
          file={file}
          problems={problems}
          draft={drafts.get(path)}
          onDraft={change}
        />
      ) : (
        <EmptyState
          Icon={TbFileUnknown}
          title="No such file"
          hint={`There is no ${path || 'file'} in the tree. Pick one from the list.`}
        />
      )}
    </div>
  );
}

/** Where the messages of the first served user start, else any workflow, else anything. */
function firstFile({ users, models, files }: ConfigOverview): string {
  const start = users.find(user => user.models.includes(models[0] ?? ''))?.starts.find(one => one.path)?.path;
  return start ?? (files.find(file => file.kind === 'workflows') ?? files[0])?.path ?? '';
}
