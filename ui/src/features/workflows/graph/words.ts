import type { GraphNode } from '../api/graph';

/** A step in one sentence, for whoever does not see the graph. */
export function aboutStep(step: GraphNode): string {
  const reads = [...new Set(step.uses.flatMap(use => use.source ?? []))];
  const parts = [
    `Step ${step.number}, ${step.title}`,
    step.kind ?? `unknown type ${step.type}`,
    step.endpoint && `asks ${step.endpoint}`,
    step.preset && `preset ${step.preset}`,
    reads.length > 0 && `reads the output of ${reads.join(', ')}`,
    step.calls.length > 0 && `runs ${step.calls.map(call => call.name).join(', ')}`,
    step.role === 'answers' && 'answers',
    step.role === 'behind' && 'runs after the answer',
  ];
  return parts.filter(Boolean).join('; ');
}
