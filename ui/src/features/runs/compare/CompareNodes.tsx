import { Accordion, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { Pieces } from '@/shared/components/Words';
import type { RunNode, RunWhole } from '@/shared/data/runs/run';
import { span, tokens } from '../figures';
import { promptText } from '../run/promptText';
import classes from './Compare.module.css';
import { type Pair, pairsOf } from './pairs';
import { TextDiff } from './TextDiff';

/** The nodes of two runs beside each other; an opened one shows what differs in prompt and output. */
export function CompareNodes({ runs: [left, right] }: { runs: readonly [RunWhole, RunWhole] }) {
  const pairs = useMemo(() => pairsOf(left, right), [left, right]);
  return (
    <section aria-label="Nodes of both runs">
      <Title order={2} size="h5" mt="md" mb="xs">
        Nodes
      </Title>
      <Accordion multiple variant="contained" chevronPosition="left" keepMounted={false}>
        {pairs.map((pair, at) => (
          <Accordion.Item key={pair.key} value={String(at)}>
            <Accordion.Control>
              <span className={classes.pair}>
                <bdi className={classes.title}>
                  <Pieces text={pair.title} />
                </bdi>
                <span className={classes.told}>{told(pair)}</span>
                <span className={classes.spans}>
                  {took(pair.left)} → {took(pair.right)}
                </span>
              </span>
            </Accordion.Control>
            <Accordion.Panel>
              <Differences pair={pair} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </section>
  );
}

function Differences({ pair: { left, right } }: { pair: Pair }) {
  const texts: [string, string, string][] = [
    ['Asked', asked(left), asked(right)],
    ['Prompt', promptOf(left), promptOf(right)],
    ['Output', left?.output ?? '', right?.output ?? ''],
    ['Error', left?.error ?? '', right?.error ?? ''],
    ['Memories read', read(left), read(right)],
  ];
  return texts
    .filter(([, one, two]) => one || two)
    .map(([name, one, two]) => (
      <div key={name}>
        <Text size="xs" c="dimmed" fw={600} mb={2}>
          {name}
        </Text>
        <div className={classes.texts}>
          <TextDiff left={one} right={two} />
        </div>
      </div>
    ));
}

function told({ left, right }: Pair): string {
  if (!left) return 'only in the second';
  if (!right) return 'only in the first';
  const differing = [
    promptOf(left) !== promptOf(right) && 'prompt',
    left.output !== right.output && 'output',
    left.error !== right.error && 'error',
    read(left) !== read(right) && 'memories',
  ].filter(Boolean);
  return differing.length ? `differs in ${differing.join(', ')}` : 'the same';
}

const took = (node: RunNode | null) => (node ? span(node.duration_ms) : '–');
const promptOf = (node: RunNode | null) => (node?.prompt ? promptText(node.prompt) : '');
const read = (node: RunNode | null) => node?.memories.map(memory => memory.text).join('\n') ?? '';

function asked(node: RunNode | null): string {
  if (!node) return '';
  return [node.endpoint, node.model, node.preset, tokens(node)].filter(Boolean).join(' · ');
}
