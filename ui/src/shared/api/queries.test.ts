import { QueryObserver } from '@tanstack/react-query';
import { newQueryClient } from './queries';

test('what changed while its first answer was on its way is asked once more', async () => {
  const queries = newQueryClient();
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let asked = 0;
  const observer = new QueryObserver(queries, { queryKey: ['list'], queryFn: () => answers[asked++]?.promise });
  const leave = observer.subscribe(() => undefined);
  const refreshed = queries.invalidateQueries({ queryKey: ['list'] });
  answers[0]?.resolve('before the change');
  answers[1]?.resolve('after it');
  await refreshed;
  expect(observer.getCurrentResult().data).toBe('after it');
  leave();
});
