import { ActionIcon, Drawer, Group, NavLink, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { TbMenu2 } from 'react-icons/tb';
import { Link, NavLink as RouterLink, useLocation, useNavigation } from 'react-router';
import { ProjectMenu } from '@/features/chat/settings/ProjectMenu';
import { useMe } from '@/shared/data/access';
import { PaletteButton } from '../palette/PaletteButton';
import { AllowedPage } from './AllowedPage';
import { pages, useListedPages } from './pages';
import classes from './Shell.module.css';
import { SilenceBar } from './SilenceBar';

const AccountMenu = lazy(async () => ({ default: (await import('./AccountMenu')).AccountMenu }));

/** Header with the pages, and the page below it, which has all of the remaining height. */
export function Shell() {
  const [menuOpen, menu] = useDisclosure(false);
  const listed = useListedPages();
  const { signed_in: isPerson, name } = useMe();
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const isLoading = useNavigation().state === 'loading';
  useEffect(() => {
    document.title = `${pages.find(page => page.path === pathname)?.name ?? 'Not found'} · Mnemoir`;
  }, [pathname]);

  return (
    <div className={classes.shell}>
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className={classes.header}>
        <ActionIcon className={classes.burger} variant="subtle" color="gray" onClick={menu.open} aria-label="Pages">
          <TbMenu2 size={20} />
        </ActionIcon>
        <Link to="/" className={classes.brand}>
          <img src="./icon.svg" alt="" width={22} height={22} />
          <Text span fw={650}>
            Mnemoir
          </Text>
        </Link>
        <nav aria-label="Pages" className={classes.nav}>
          {listed.map(page => (
            <RouterLink key={page.path} to={page.path} end className={classes.link ?? ''}>
              {page.name}
            </RouterLink>
          ))}
        </nav>
        <Group gap="xs" ml="auto" wrap="nowrap">
          <PaletteButton />
          <ProjectMenu />
          {isPerson && (
            <Suspense>
              <AccountMenu name={name ?? ''} />
            </Suspense>
          )}
        </Group>
      </header>
      <SilenceBar />
      {isLoading && <div className={classes.progress} role="status" aria-label="Loading the page" />}
      <main ref={main} className={classes.main} tabIndex={-1} aria-busy={isLoading}>
        <AllowedPage />
      </main>
      <Drawer
        opened={menuOpen}
        onClose={menu.close}
        title="Mnemoir"
        size="xs"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack gap={2} component="nav" aria-label="Pages">
          {listed.map(({ path, name, Icon }) => (
            <NavLink
              key={path}
              component={RouterLink}
              to={path}
              end
              label={name}
              leftSection={<Icon size={18} aria-hidden />}
              active={pathname === path}
              onClick={menu.close}
            />
          ))}
        </Stack>
      </Drawer>
    </div>
  );
}
