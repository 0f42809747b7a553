import type { ConfigOverview } from '@/shared/data/workflows';

/** What the tree has to offer for members that name something, as seen from a file: shorter names first. */
export function namesFor({ files }: ConfigOverview, path: string): ReadonlyMap<string, readonly string[]> {
  const below = (folder: string, skip: number) =>
    files
      .filter(file => file.path.toLowerCase().startsWith(`${folder}/`))
      .map(file =>
        file.path
          .split('/')
          .slice(skip)
          .join('/')
          .replace(/\.json$/i, ''),
      )
      .filter(Boolean);
  const last = (folder: string) => [...new Set(below(folder, 1).map(name => name.split('/').at(-1) ?? name))];
  const folder = path.split('/').slice(0, -1).join('/').toLowerCase();
  const [endpoints, presets, templates] = [last('endpoints'), last('presets'), last('prompttemplates')];
  const workflows = folder.startsWith('workflows/')
    ? below(folder, folder.split('/').length).filter(name => !name.includes('/'))
    : last('workflows');
  return new Map([
    ['endpointName', endpoints],
    ['backupEndpointName', endpoints],
    ['preset', [...new Set([...presets, ...endpoints])]],
    ['appendPresetName', presets],
    ['promptTemplate', templates],
    ['chatPromptTemplateName', templates],
    ['apiTypeConfigFileName', last('apitypes')],
    ['routingConfig', last('routing')],
    ...['workflowName', 'conditionalWorkflows', 'customWorkflow', 'categorizationWorkflow', 'workflow'].map(
      name => [name, workflows] as const,
    ),
  ]);
}
