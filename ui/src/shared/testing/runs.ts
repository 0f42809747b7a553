import type { RunNode, RunWhole, RunWorkflow } from '@/shared/data/runs/run';
import type { RunListed } from '@/shared/data/runs/runs';

/** A node for tests, as the server would tell it. */
export function aNode(title: string, members: Partial<RunNode> = {}): RunNode {
  return {
    number: 1,
    title,
    type: 'Standard',
    started_ms: 0,
    endpoint: null,
    preset: null,
    model: null,
    prompt: null,
    output: null,
    input_tokens: 0,
    output_tokens: 0,
    tokens_counted: false,
    first_token_ms: null,
    duration_ms: 10,
    error: null,
    is_responder: false,
    call: null,
    variables: [],
    memories: [],
    standing: [],
    written: [],
    notes: [],
    children: [],
    ...members,
  };
}

export function aWorkflow(name: string, ...nodes: RunNode[]): RunWorkflow {
  return { name, folder: '', nodes };
}

/** A whole run of one workflow, `Chat`. */
export function aRun(id: string, nodes: RunNode[], members: Partial<RunWhole> = {}): RunWhole {
  return {
    id,
    scope: {
      project: 'default',
      user: 'mira',
      tenant: 'default',
      agent: null,
      app: null,
      conversation: null,
      node: null,
    },
    user: '',
    model: 'mnemoir',
    stream: false,
    status: 'finished',
    started_at: '2026-03-04T09:15:00.000Z',
    first_token_ms: 5,
    answered_ms: 50,
    duration_ms: 100,
    category: null,
    error: null,
    memory_skipped: null,
    is_temporary: false,
    message_uids: [],
    question: '',
    dropped: [],
    asked: [],
    workflows: [aWorkflow('Chat', ...nodes)],
    ...members,
  };
}

/** A run in a list. */
export function listed(id: string, members: Partial<RunListed> = {}): RunListed {
  return {
    id,
    started_at: '2026-03-04T09:15:00.000Z',
    status: 'finished',
    question: '',
    user: '',
    project: 'default',
    user_id: 'mira',
    conversation: null,
    model: 'mnemoir',
    stream: false,
    workflow: 'Chat',
    category: null,
    first_token_ms: null,
    duration_ms: 812,
    nodes: 3,
    memories: 0,
    input_tokens: 0,
    output_tokens: 0,
    tokens_counted: false,
    error: null,
    ...members,
  };
}
