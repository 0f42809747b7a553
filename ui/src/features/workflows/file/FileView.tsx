import { Tabs } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { type ConfigFile, type ConfigOverview, type ConfigProblems, useSaving } from '@/shared/data/workflows';
import type { Draft } from '../drafts';
import { EditorPane } from '../editor/EditorPane';
import { GraphPane } from '../graph/GraphPane';
import { usePlace } from '../place';
import { ProblemList } from '../problems/ProblemList';
import { TrialPanel } from '../trial/TrialPanel';
import { useTrial } from '../trial/useTrial';
import { FileHeader } from './FileHeader';
import classes from './FileView.module.css';
import { ProblemsTab } from './ProblemsTab';
import { UserStarts } from './UserStarts';

interface FileViewProps {
  tree: ConfigOverview;
  file: ConfigFile;
  problems: ConfigProblems | undefined;
  draft: Draft | undefined;
  onDraft: (draft: Draft | undefined) => void;
}

/** One file: a workflow as a graph beside its JSON, others as JSON; below it what is wrong, and a way to try it. */
export function FileView({ tree, file, problems, draft, onDraft }: FileViewProps) {
  const isWide = useMediaQuery('(min-width: 68em)', undefined, { getInitialValueInEffect: false });
  const { place, go } = usePlace();
  const trial = useTrial();
  const { data: saving } = useSaving();
  const pick = (at: string) => go({ at, ...(!isWide && { view: 'json' }) }, { replace: isWide });
  const user = tree.users.find(one => one.path === file.path);

  const picture =
    file.kind === 'workflows' ? (
      <GraphPane path={file.path} user={place.user} at={place.at} asSteps={!isWide} onPick={pick} />
    ) : user ? (
      <UserStarts user={user} />
    ) : null;
  const editor = (
    <EditorPane
      tree={tree}
      path={file.path}
      kind={file.kind}
      problems={problems?.problems ?? []}
      at={place.at}
      draft={draft}
      onDraft={onDraft}
      onMove={at => at !== place.at && go({ at }, { replace: true })}
    />
  );
  const below = {
    problems: <ProblemList file={file.path} />,
    try: (
      <TrialPanel
        tree={tree}
        file={file.path}
        typed={saving?.is_on && file.kind === 'workflows' ? draft?.text : undefined}
        isChanged={draft !== undefined}
        trial={trial}
      />
    ),
  };

  return (
    <div className={classes.view}>
      <FileHeader tree={tree} file={file} />
      {isWide ? (
        <>
          <div className={classes.beside}>
            {picture && <div className={classes.half}>{picture}</div>}
            <div className={classes.half}>{editor}</div>
          </div>
          <Below problems={problems} panels={below} />
        </>
      ) : (
        <OneByOne problems={problems} panels={{ ...(picture && { picture }), json: editor, ...below }} />
      )}
    </div>
  );
}

interface PanelsProps {
  problems: ConfigProblems | undefined;
  panels: Record<string, ReactNode>;
}

/** A bar at the bottom that opens into one of its panels. */
function Below({ problems, panels }: PanelsProps) {
  const { place, go } = usePlace();
  const open = place.view in panels ? place.view : null;
  return (
    <Tabs
      className={classes.below}
      data-open={open ?? undefined}
      value={open}
      onChange={view => go({ view: view ?? '' }, { replace: true })}
      allowTabDeactivation
      keepMounted
    >
      <Tabs.List>
        <ProblemsTab problems={problems} />
        <Tabs.Tab value="try">Try it</Tabs.Tab>
      </Tabs.List>
      {Object.entries(panels).map(([name, panel]) => (
        <Tabs.Panel key={name} value={name} className={classes.panel}>
          {panel}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** For narrow screens: one panel at a time. */
function OneByOne({ problems, panels }: PanelsProps) {
  const { place, go } = usePlace();
  const first = Object.keys(panels)[0] ?? 'json';
  const open = place.view in panels ? place.view : first;
  return (
    <Tabs
      className={classes.tabs}
      value={open}
      onChange={view => go({ view: view ?? '' }, { replace: true })}
      keepMounted={false}
    >
      <Tabs.List className={classes.list}>
        {'picture' in panels && <Tabs.Tab value="picture">Overview</Tabs.Tab>}
        <Tabs.Tab value="json">JSON</Tabs.Tab>
        <ProblemsTab problems={problems} />
        <Tabs.Tab value="try">Try it</Tabs.Tab>
      </Tabs.List>
      {Object.entries(panels).map(([name, panel]) => (
        <Tabs.Panel key={name} value={name} className={classes.one}>
          {panel}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
