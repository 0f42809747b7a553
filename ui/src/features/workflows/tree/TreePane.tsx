import { Badge, CloseButton, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { TbChevronRight, TbFileText, TbSearch } from 'react-icons/tb';
import { Link } from 'react-router';
import { EmptyState } from '@/shared/components/states';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Pieces } from '@/shared/components/Words';
import type { ConfigFile, ConfigProblem } from '@/shared/data/workflows';
import { addressOf } from '../place';
import { foldersOf, type Row, rowsOf } from './rows';
import classes from './TreePane.module.css';

interface TreePaneProps {
  files: readonly ConfigFile[];
  problems: readonly ConfigProblem[];
  /** Path of the file that is shown. */
  current: string;
  onPick?: () => void;
}

/** The folders and files of the tree. */
export function TreePane({ files, problems, current, onPick }: TreePaneProps) {
  const [wanted, setWanted] = useState('');
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const open = useMemo(() => {
    const folders = new Set(['Workflows', ...foldersOf(current)]);
    for (const [path, isOpen] of turned) {
      if (isOpen) folders.add(path);
      else folders.delete(path);
    }
    return folders;
  }, [current, turned]);
  const rows = useMemo(() => rowsOf(files, open, problems, wanted), [files, open, problems, wanted]);

  return (
    <div className={classes.pane}>
      <TextInput
        className={classes.filter}
        size="xs"
        wrapperProps={{ role: 'search', 'aria-label': 'Files' }}
        aria-label="Find a file"
        placeholder="Find a file"
        leftSection={<TbSearch size={14} aria-hidden />}
        rightSection={wanted && <CloseButton size="xs" aria-label="Show all files" onClick={() => setWanted('')} />}
        value={wanted}
        onChange={event => setWanted(event.currentTarget.value)}
      />
      {rows.length === 0 ? (
        <EmptyState title="No files" hint={wanted ? 'No path contains all of these words.' : 'The tree is empty.'} />
      ) : (
        <VirtualRows items={rows} rowKey={row => row.key} label="Files" estimate={30} className={classes.rows}>
          {row =>
            row.isFolder ? (
              <FolderRow row={row} onToggle={() => setTurned(new Map(turned).set(row.path, !row.isOpen))} />
            ) : (
              <FileRow row={row} isCurrent={row.path === current} onPick={onPick} />
            )
          }
        </VirtualRows>
      )}
    </div>
  );
}

function FolderRow({ row, onToggle }: { row: Row; onToggle: () => void }) {
  return (
    <button
      type="button"
      data-row
      className={classes.row}
      style={{ paddingInlineStart: indent(row) }}
      aria-expanded={row.isOpen}
      onClick={onToggle}
    >
      <TbChevronRight size={14} aria-hidden className={classes.chevron} data-open={row.isOpen || undefined} />
      <bdi className={classes.name}>
        <Pieces text={row.name} />
      </bdi>
      <WrongCount row={row} />
      <span className={classes.count} aria-label={`${row.files} files`}>
        {row.files}
      </span>
    </button>
  );
}

function FileRow({ row, isCurrent, onPick }: { row: Row; isCurrent: boolean; onPick?: (() => void) | undefined }) {
  return (
    <Link
      data-row
      to={addressOf(row.path)}
      className={classes.row}
      style={{ paddingInlineStart: indent(row) }}
      aria-current={isCurrent ? 'page' : undefined}
      title={row.path}
      onClick={onPick}
    >
      <TbFileText size={14} aria-hidden className={classes.icon} />
      <bdi className={classes.name}>
        <Pieces text={row.name} />
      </bdi>
      <WrongCount row={row} />
    </Link>
  );
}

function WrongCount({ row: { errors, warnings } }: { row: Row }) {
  if (!errors && !warnings) return null;
  const told = [errors && `${errors} errors`, warnings && `${warnings} warnings`].filter(Boolean).join(', ');
  return (
    <Badge
      size="xs"
      variant="light"
      circle={errors + warnings < 10}
      color={errors ? 'red' : 'yellow'}
      aria-label={told}
      role="img"
    >
      {errors || warnings}
    </Badge>
  );
}

const indent = (row: Row) => `${0.5 + row.depth * 0.875}rem`;
