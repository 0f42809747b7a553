interface Bounds {
  tenant: string;
  projects: readonly string[] | null;
  configs: readonly string[] | null;
}

/** What of the server somebody is bound to, in words. */
export function reach({ tenant, projects, configs }: Bounds): string {
  const limits = [
    ...(tenant === 'default' ? [] : [`tenant ${tenant}`]),
    ...(projects === null ? [] : [`${projects.length === 1 ? 'project' : 'projects'} ${projects.join(', ')}`]),
    ...(configs === null ? [] : [`workflows of ${configs.join(', ')}`]),
  ];
  return limits.join(', ') || 'all projects';
}
