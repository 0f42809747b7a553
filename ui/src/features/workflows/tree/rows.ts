import type { ConfigFile, ConfigProblem } from '@/shared/data/workflows';

/** A line of the tree. Folders have the number of what is wrong below them. */
export interface Row {
  key: string;
  path: string;
  name: string;
  depth: number;
  isFolder: boolean;
  isOpen: boolean;
  files: number;
  errors: number;
  warnings: number;
}

const ORDER = ['users', 'workflows', 'routing', 'endpoints', 'presets', 'prompttemplates', 'apitypes'];

interface Folder {
  folders: Map<string, Folder>;
  files: ConfigFile[];
  count: number;
}

/**
 * The lines in sight: all folders on the way to what is open. With `wanted`, only files with all of its words in
 * their path, and every folder they are in.
 */
export function rowsOf(
  files: readonly ConfigFile[],
  open: ReadonlySet<string>,
  problems: readonly ConfigProblem[],
  wanted: string,
): Row[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = files.filter(file => words.every(word => file.path.toLowerCase().includes(word)));
  const counts = countsOf(problems);
  const rows: Row[] = [];
  const walk = (folder: Folder, prefix: string, depth: number) => {
    for (const name of [...folder.folders.keys()].sort(depth ? byName : byRank)) {
      const inner = folder.folders.get(name);
      if (!inner) continue;
      const path = `${prefix}${name}`;
      const isOpen = words.length > 0 || open.has(path);
      const wrong = counts.get(`${path}/`) ?? NONE;
      rows.push({ key: `${path}/`, path, name, depth, isFolder: true, isOpen, files: inner.count, ...wrong });
      if (isOpen) walk(inner, `${path}/`, depth + 1);
    }
    for (const { path } of folder.files) {
      const name = path.slice(prefix.length).replace(/\.json$/i, '');
      rows.push({
        key: path,
        path,
        name,
        depth,
        isFolder: false,
        isOpen: false,
        files: 1,
        ...(counts.get(path) ?? NONE),
      });
    }
  };
  walk(nested(found), '', 0);
  return rows;
}

/** The folders a file is in, outermost first. */
export function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

interface Wrong {
  errors: number;
  warnings: number;
}

const NONE: Wrong = { errors: 0, warnings: 0 };

/** By file, and by folder with a slash behind it. */
function countsOf(problems: readonly ConfigProblem[]): Map<string, Wrong> {
  const counts = new Map<string, Wrong>();
  for (const { file, level } of problems) {
    for (const key of [file, ...foldersOf(file).map(folder => `${folder}/`)]) {
      const before = counts.get(key) ?? NONE;
      const kind = level === 'error' ? 'errors' : 'warnings';
      counts.set(key, { ...before, [kind]: before[kind] + 1 });
    }
  }
  return counts;
}

function nested(files: readonly ConfigFile[]): Folder {
  const top = newFolder();
  for (const file of files) {
    let at = top;
    at.count += 1;
    for (const name of file.path.split('/').slice(0, -1)) {
      const next = at.folders.get(name) ?? newFolder();
      at.folders.set(name, next);
      at = next;
      at.count += 1;
    }
    at.files.push(file);
  }
  return top;
}

const newFolder = (): Folder => ({ folders: new Map(), files: [], count: 0 });
const byName = (one: string, other: string) => one.localeCompare(other);
const rank = (name: string) => {
  const at = ORDER.indexOf(name.toLowerCase());
  return at < 0 ? ORDER.length : at;
};
const byRank = (one: string, other: string) => rank(one) - rank(other) || byName(one, other);
