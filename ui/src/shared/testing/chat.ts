import { http, HttpResponse } from 'msw';
import { server } from './server';

export const line = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`;
export const piece = (content: string) => line({ choices: [{ delta: { content } }] });

/** The server with one conversation: what is said in it is stored, and answered by `answer`. */
export function conversation(answer: (body: Record<string, unknown>) => Response) {
  const messages: Record<string, unknown>[] = [];
  const bodies: Record<string, unknown>[] = [];
  const put = (role: string, content: string, runId = 'r') => {
    const id = messages.length + 1;
    const known = {
      finish_reason: null,
      run_id: role === 'assistant' ? runId : null,
      tool_calls: null,
      created_at: '2026-11-22T10:00:00Z',
    };
    messages.push({ id, uid: `msg_${id}`, role, content, parent_id: id - 1 || null, siblings: [id], ...known });
  };
  server.use(
    http.get('*/health', () => HttpResponse.json({ llm: 'configured' })),
    http.get('*/api/runs/r/summary', () => HttpResponse.json({ detail: 'None.' }, { status: 404 })),
    http.get('*/v1/models', () => HttpResponse.json({ data: [{ id: 'small' }, { id: 'large' }] })),
    http.get('*/api/conversations', () => HttpResponse.json({ results: [], next: null })),
    http.get('*/api/conversations/:id', () => HttpResponse.json({ detail: 'None.' }, { status: 404 })),
    http.get('*/api/conversations/:id/messages', () => HttpResponse.json({ results: messages, next: null })),
    http.post('*/v1/chat/completions', async ({ request }) => {
      const body = (await request.json()) as { messages: { content: string }[] };
      bodies.push(body);
      const response = answer(body);
      if (response.ok) put('user', body.messages.at(-1)?.content ?? '');
      if (response.ok) put('assistant', 'Green tea.');
      return response;
    }),
  );
  return { bodies, put };
}

export const streamed = (...events: string[]) =>
  new HttpResponse(events.join(''), { headers: { 'X-Workflow-Run-Id': 'r' } });
