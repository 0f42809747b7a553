/** The modules below this folder, as text. */
const modules = import.meta.glob<string>('./**/*.ts', { query: '?raw', import: 'default', eager: true });

test('every request of every endpoint stands in one place', () => {
  const requests = Object.entries(modules)
    .filter(([path]) => !path.includes('.test.'))
    .flatMap(([path, text]) =>
      [...text.matchAll(/client\.([A-Z]+)\(\s*'([^']+)'/g)].map(
        found => `${String(found[1])} ${String(found[2])} ${path}`,
      ),
    );
  const endpoints = requests.map(request => request.split(' ').slice(0, 2).join(' '));
  expect(endpoints.length).toBeGreaterThan(40);
  expect(requests.filter((_, at) => endpoints.indexOf(endpoints[at] ?? '') !== at)).toEqual([]);
});
