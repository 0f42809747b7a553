import { Badge, Popover, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { TbCheck, TbChevronDown } from 'react-icons/tb';
import { SearchList } from '@/shared/components/SearchList';
import { Words } from '@/shared/components/Words';
import { FRESH_MS } from '@/shared/data/memoryUse';
import { useModel, useModels } from '@/shared/data/models';
import { useConfigTree } from '@/shared/data/workflows';
import { change } from '@/shared/settings/settings';
import classes from './Composer.module.css';
import { matching, type ModelEntry, modelEntries } from './modelEntries';

/** Which model or workflow answers; remembered. */
export function ModelPicker() {
  const model = useModel();
  const { data: names = [] } = useModels();
  const [opened, list] = useDisclosure(false);
  if (names.length === 0) return null;
  return (
    <Popover
      opened={opened}
      onChange={isOpen => (isOpen ? list.open() : list.close())}
      width="min(24rem, 90vw)"
      position="top-start"
      shadow="md"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <UnstyledButton
          className={classes.model ?? ''}
          aria-label={`Model or workflow: ${model}`}
          onClick={list.toggle}
        >
          <span className={classes.modelName}>
            <Words>{model}</Words>
          </span>
          <TbChevronDown size={14} aria-hidden />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <Models names={names} model={model} onChosen={list.close} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface ModelsProps {
  names: readonly string[];
  model: string;
  onChosen: () => void;
}

function Models({ names, model, onChosen }: ModelsProps) {
  const { data: tree } = useConfigTree({ staleTime: FRESH_MS });
  const [typed, setTyped] = useState('');
  return (
    <SearchList
      label="Search models and workflows"
      listLabel="Models and workflows"
      typed={typed}
      onTyped={setTyped}
      items={matching(modelEntries(names, tree), typed.trim())}
      keyOf={({ name }) => name}
      startAt={names.indexOf(model)}
      onChoose={({ name }) => {
        change.model(name);
        onChosen();
      }}
    >
      {entry => <Entry {...entry} isCurrent={entry.name === model} />}
    </SearchList>
  );
}

function Entry({ name, description, remembers, isCurrent }: ModelEntry & { isCurrent: boolean }) {
  return (
    <>
      <span className={classes.entryWords}>
        <Words>{name}</Words>
        {description && (
          <small>
            <Words>{description}</Words>
          </small>
        )}
      </span>
      {remembers && (
        <Badge size="sm" variant="light" tt="none">
          remembers
        </Badge>
      )}
      {isCurrent && <TbCheck size={16} aria-label="chosen" className={classes.chosen} />}
    </>
  );
}
