import { Switch, Tooltip } from '@mantine/core';

interface LiveSwitchProps {
  isFollowing: boolean;
  isLive: boolean;
  onChange: (isFollowing: boolean) => void;
}

/** Whether new runs appear by themselves, and whether the feed that tells of them is there. */
export function LiveSwitch({ isFollowing, isLive, onChange }: LiveSwitchProps) {
  const told = !isFollowing
    ? 'Paused: this list does not update'
    : isLive
      ? 'Runs appear as they happen'
      : 'Connecting…';
  return (
    <Tooltip label={told}>
      <Switch
        size="sm"
        checked={isFollowing}
        onChange={event => onChange(event.currentTarget.checked)}
        label={isFollowing && !isLive ? 'Live …' : 'Live'}
        aria-label={`Live updates. ${told}`}
        data-live={isFollowing && isLive ? 'yes' : 'no'}
      />
    </Tooltip>
  );
}
