import { QueryObserver } from '@tanstack/react-query';
import { newQueryClient } from './queries';

test('what changed while its first answer was on its way is asked once more', async () => {
  const queries = newQueryClient();
  let asked = 0;
  const queryFn = async () => {
    asked += 1;
    const answer = `answer ${String(asked)}`;
    await Promise.resolve();
    return answer;
  };
  const observer = new QueryObserver(queries, { queryKey: ['list'], queryFn });
  const leave = observer.subscribe(() => undefined);
  await queries.invalidateQueries({ queryKey: ['list'] });
  expect(observer.getCurrentResult().data).toBe('answer 2');
  await queries.invalidateQueries({ queryKey: ['list'] });
  expect(observer.getCurrentResult().data).toBe('answer 3');
  leave();
});
