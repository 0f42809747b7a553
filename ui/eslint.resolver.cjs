// Tells eslint where an import leads, so that the order of shared, features and app can be checked.
const fs = require('node:fs');
const path = require('node:path');

const SOURCES = path.join(__dirname, 'src');
const ENDINGS = ['', '.ts', '.tsx', '.css', '/index.ts', '/index.tsx'];

module.exports = {
  interfaceVersion: 2,
  resolve(source, file) {
    if (!source.startsWith('@/') && !source.startsWith('.')) return { found: false };
    const place = source.startsWith('@/')
      ? path.join(SOURCES, source.slice(2))
      : path.resolve(path.dirname(file), source);
    const found = ENDINGS.map(ending => place + ending).find(
      each => fs.existsSync(each) && fs.statSync(each).isFile(),
    );
    return found ? { found: true, path: found } : { found: false };
  },
};
