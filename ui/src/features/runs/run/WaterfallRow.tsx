import { VisuallyHidden } from '@mantine/core';
import type { KeyboardEvent, MouseEvent } from 'react';
import { TbAlertCircle, TbChevronDown, TbChevronRight, TbMessageReply } from 'react-icons/tb';
import { Pieces } from '@/shared/components/Words';
import type { RunNode, RunWhole } from '@/shared/data/runs/run';
import { span } from '../figures';
import { type Line, spanOf } from './lines';
import classes from './Waterfall.module.css';

interface WaterfallRowProps {
  line: Line;
  run: RunWhole;
  length: number;
  isClosed: boolean;
  isChosen: boolean;
  /** Whether Tab comes here. */
  isEntry: boolean;
  onChoose: () => void;
  onToggle: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

const DEEPEST = 8; // what stands deeper is no longer moved to the right

/** A node or a workflow: its name in the tree, its bar over time, and how long it took. */
export function WaterfallRow(props: WaterfallRowProps) {
  const { line, run, length, isClosed, isChosen, isEntry, onChoose, onToggle, onKeyDown } = props;
  const [from, to] = spanOf(line, length);
  const isOver = line.kind === 'workflow' || line.node.duration_ms !== null;
  const took = isOver ? span(Math.max(to - from, 0)) : 'running';
  const toggle = (event: MouseEvent) => {
    event.stopPropagation();
    onToggle();
  };
  return (
    <div
      role="treeitem"
      data-key={line.key}
      data-kind={line.kind}
      aria-level={line.depth + 1}
      aria-selected={isChosen}
      aria-expanded={line.hasChildren ? !isClosed : undefined}
      tabIndex={isEntry ? 0 : -1}
      className={classes.row}
      onClick={onChoose}
      onKeyDown={onKeyDown}
    >
      <span className={classes.label} style={{ paddingLeft: `${Math.min(line.depth, DEEPEST) * 0.875}rem` }}>
        <span className={classes.chevron} onClick={toggle} aria-hidden>
          {line.hasChildren && (isClosed ? <TbChevronRight size={16} /> : <TbChevronDown size={16} />)}
        </span>
        {line.kind === 'workflow' ? <WorkflowName line={line} /> : <NodeName node={line.node} />}
      </span>
      <span className={classes.track} aria-hidden>
        {run.answered_ms !== null && <Moment at={run.answered_ms / length} />}
        <Bar line={line} from={from} to={to} length={length} />
      </span>
      <span className={classes.took}>{took}</span>
    </div>
  );
}

function WorkflowName({ line }: { line: Extract<Line, { kind: 'workflow' }> }) {
  const { name, folder } = line.workflow;
  return (
    <bdi className={classes.workflow}>
      <VisuallyHidden>Workflow </VisuallyHidden>
      <Pieces text={folder ? `${folder} / ${name}` : name} />
    </bdi>
  );
}

function NodeName({ node }: { node: RunNode }) {
  return (
    <span className={classes.node}>
      <bdi className={classes.title}>
        <Pieces text={node.title} />
      </bdi>
      <span className={classes.type}>{node.type}</span>
      {node.is_responder && (
        <span className={classes.responder} title="Answered the client">
          <TbMessageReply size={16} aria-hidden />
          <VisuallyHidden>answered the client</VisuallyHidden>
        </span>
      )}
      {node.error && (
        <span className={classes.failed} title="Failed">
          <TbAlertCircle size={16} aria-hidden />
          <VisuallyHidden>failed</VisuallyHidden>
        </span>
      )}
    </span>
  );
}

interface BarProps {
  line: Line;
  from: number;
  to: number;
  length: number;
}

/** Waiting and answering apart, for a node that asked a model; one piece for all else. */
function Bar({ line, from, to, length }: BarProps) {
  const first = line.kind === 'node' && line.node.endpoint !== null ? line.node.first_token_ms : null;
  const place = (begin: number, end: number) => ({
    left: `${(begin / length) * 100}%`,
    width: `${(Math.max(end - begin, 0) / length) * 100}%`,
  });
  const hasFailed = line.kind === 'node' && line.node.error !== null;
  if (first === null) {
    const part = line.kind === 'workflow' ? 'workflow' : line.node.endpoint === null ? 'working' : 'waiting';
    return (
      <span className={classes.bar} data-part={part} data-failed={hasFailed || undefined} style={place(from, to)} />
    );
  }
  return (
    <>
      <span className={classes.bar} data-part="waiting" style={place(from, first)} />
      <span
        className={classes.bar}
        data-part="answering"
        data-failed={hasFailed || undefined}
        style={place(first, to)}
      />
    </>
  );
}

function Moment({ at }: { at: number }) {
  return <span className={classes.moment} style={{ left: `${Math.min(at, 1) * 100}%` }} />;
}
