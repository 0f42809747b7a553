import { Button, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { TbFolder } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { type ConfigOverview, useConfigProblems, useConfigTree } from '@/shared/data/workflows';
import { FileView } from './file/FileView';
import { usePlace } from './place';
import { TreePane } from './tree/TreePane';
import classes from './WorkflowsPage.module.css';

/** The config tree: its files at the left, and one of them. Nothing of it can be changed here. */
export function WorkflowsPage() {
  const { data: tree, error, refetch } = useConfigTree();
  const [filesOpen, files] = useDisclosure(false);
  return (
    <PageFrame
      title="Workflows"
      fill
      actions={
        tree?.root && (
          <Button
            className={classes.toFiles}
            size="xs"
            variant="default"
            leftSection={<TbFolder size={16} />}
            onClick={files.open}
          >
            Files
          </Button>
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
  const [drafts, setDrafts] = useState<ReadonlyMap<string, string>>(new Map());
  const path = place.file || firstFile(tree);
  const file = tree.files.find(one => one.path === path);
  const pane = <TreePane files={tree.files} problems={problems?.problems ?? []} current={path} onPick={onClose} />;
  const change = (text: string | undefined) => {
    const after = new Map(drafts);
    if (text === undefined) after.delete(path);
    else after.set(path, text);
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
