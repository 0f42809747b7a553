import { Anchor, Table } from '@mantine/core';
import { Link } from 'react-router';
import { Time } from '@/shared/components/Time';
import { Pieces } from '@/shared/components/Words';
import type { RunWhole } from '@/shared/data/runs/run';
import { span } from '../figures';
import { totalsOf } from '../run/totals';
import { StatusMark } from '../StatusMark';
import classes from './Compare.module.css';
import { Difference } from './Difference';

type Show = (value: number) => string;

const COUNT: Show = value => value.toLocaleString();

/** The figures of two runs, and how far apart they are. */
export function CompareFigures({ runs }: { runs: readonly [RunWhole, RunWhole] }) {
  const totals = runs.map(totalsOf);
  const figures: [string, (number | null)[], Show][] = [
    ['First token', runs.map(run => run.first_token_ms), span],
    ['Answered', runs.map(run => run.answered_ms), span],
    ['Done after', runs.map(run => run.duration_ms), span],
    ['Nodes', totals.map(of => of.nodes), COUNT],
    ['Memories read', totals.map(of => of.memories), COUNT],
    ['Tokens in', totals.map(of => of.input_tokens || null), COUNT],
    ['Tokens out', totals.map(of => of.output_tokens || null), COUNT],
  ];
  return (
    <div className={classes.wide} tabIndex={0} role="region" aria-label="Figures of both runs">
      <Table className={classes.figures} verticalSpacing={4} captionSide="top">
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {runs.map((run, at) => (
              <Table.Th key={at} scope="col">
                <Anchor component={Link} to={`/runs?id=${encodeURIComponent(run.id)}`} size="sm">
                  <bdi>
                    <Pieces text={run.question || run.workflows.at(-1)?.name || run.id} />
                  </bdi>
                </Anchor>
                <div className={classes.when}>
                  <Time value={run.started_at} />
                </div>
                <StatusMark status={run.status} words />
              </Table.Th>
            ))}
            <Table.Th scope="col">Difference</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {figures.map(([name, [left = null, right = null], show]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td>{left === null ? '–' : show(left)}</Table.Td>
              <Table.Td>{right === null ? '–' : show(right)}</Table.Td>
              <Table.Td>
                <Difference left={left} right={right} show={show} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
