import { Handle, type NodeProps, Position, useReactFlow } from '@xyflow/react';
import { VisuallyHidden } from '@mantine/core';
import { createContext, useContext } from 'react';
import { TbArrowUpRight, TbQuestionMark } from 'react-icons/tb';
import { Link } from 'react-router';
import { Pieces } from '@/shared/components/Words';
import type { GraphCall } from '@/shared/data/workflows';
import { addressOf } from '../place';
import classes from './Graph.module.css';
import type { CallBox, StepBox } from './layout';
import { besideStep, conditionOf } from './words';

/** What the boxes of one graph have in common. */
export const GraphContext = createContext<{ user: string; onPick: (at: string) => void }>({
  user: '',
  onPick: () => undefined,
});

/** A step: its number and title, its type, and what it asks. */
export function StepNode({ id, data: { step, isCurrent } }: NodeProps<StepBox>) {
  const { onPick } = useContext(GraphContext);
  const showsFocus = useFocusInSight(id);
  return (
    <>
      <Handle type="target" id="above" position={Position.Top} isConnectable={false} />
      <Handle type="target" id="left" position={Position.Left} isConnectable={false} />
      <Handle type="source" id="left" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className={`${classes.step ?? ''} nodrag`}
        data-role={step.role}
        data-unknown={step.kind === null || undefined}
        aria-current={isCurrent ? 'step' : undefined}
        title={step.description || undefined}
        onClick={() => onPick(step.at)}
        onFocus={showsFocus}
      >
        <span className={classes.head}>
          <span className={classes.number}>
            <VisuallyHidden>Step </VisuallyHidden>
            {step.number}
          </span>
          <bdi className={classes.title}>
            <Pieces text={step.title} />
          </bdi>
        </span>
        <span className={classes.second}>
          <span className={classes.kind}>{step.kind ?? `${step.type}?`}</span>
          {step.role === 'answers' && <span className={classes.answers}>answers</span>}
        </span>
        <span className={classes.asks}>
          {!step.endpoint && !step.preset && step.description}
          {step.endpoint && (
            <bdi>
              <Pieces text={[step.endpoint, step.model && `(${step.model})`].filter(Boolean).join(' ')} />
            </bdi>
          )}
          {step.preset && (
            <bdi>
              {' · '}
              <Pieces text={step.preset} />
            </bdi>
          )}
        </span>
        <VisuallyHidden>{besideStep(step)}</VisuallyHidden>
      </button>
      <Handle type="source" id="right" position={Position.Right} isConnectable={false} />
      <Handle type="source" id="below" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

/** A workflow that a step runs; opens it. */
export function CallNode({ id, data: { call } }: NodeProps<CallBox>) {
  const { user } = useContext(GraphContext);
  const showsFocus = useFocusInSight(id);
  return (
    <>
      <Handle type="target" id="called" position={Position.Left} isConnectable={false} />
      {call.path ? (
        <Link
          to={addressOf(call.path, '', user)}
          className={`${classes.call ?? ''} nodrag`}
          title={call.path}
          onFocus={showsFocus}
        >
          <VisuallyHidden>Open workflow </VisuallyHidden>
          <CallWords call={call} />
          <TbArrowUpRight size={14} aria-hidden />
        </Link>
      ) : (
        <span
          className={classes.call}
          data-unknown
          title="No file found for this name, or it is only known at run time"
        >
          <CallWords call={call} />
          <TbQuestionMark size={14} aria-hidden />
        </span>
      )}
    </>
  );
}

function CallWords({ call: { name, when } }: { call: GraphCall }) {
  return (
    <span className={classes.words}>
      {when !== null && (
        <bdi className={classes.when}>
          <Pieces text={conditionOf(when)} />
        </bdi>
      )}
      <bdi className={classes.title}>
        <Pieces text={name || 'no name'} />
      </bdi>
    </span>
  );
}

/** Keyboard focus brings its box into sight. */
function useFocusInSight(id: string) {
  const flow = useReactFlow();
  return (event: React.FocusEvent<HTMLElement>) => {
    const box = flow.getNode(id);
    if (!box || !event.currentTarget.matches(':focus-visible')) return;
    const [x, y] = [box.position.x + (box.width ?? 0) / 2, box.position.y + (box.height ?? 0) / 2];
    void flow.setCenter(x, y, { zoom: flow.getZoom() });
  };
}
