import { Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { isOnlyAt } from '@/shared/api/errors';
import { RetentionFields } from '@/shared/components/RetentionFields';
import { ErrorState } from '@/shared/components/states';
import { type Tenant, usePutTenant, useRetentionOfSettings } from '@/shared/data/apiKeys';
import { areDays, daysOf, KEPT, type Kept, ofTenant, ownDays } from '@/shared/data/retention';

const placeOf = (kept: Kept) => `retention.${ofTenant(kept)}`;

/** For how long a tenant keeps things. */
export function RetentionDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const [days, setDays] = useState(() => daysOf(tenant.retention, ofTenant));
  const otherwise = useRetentionOfSettings();
  const put = usePutTenant();
  const isReady = areDays(days);
  const save = () => {
    const { name, suspended_at } = tenant;
    put.mutate({ name, suspended: suspended_at !== null, retention: ownDays(days) }, { onSuccess: onClose });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Retention of ${tenant.name}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={event => {
          event.preventDefault();
          if (isReady) save();
        }}
      >
        <Stack gap="md">
          <RetentionFields
            days={days}
            onChange={setDays}
            otherwise={daysOf(otherwise, ofTenant)}
            error={put.error}
            placeOf={placeOf}
          />
          {put.isError && !isOnlyAt(put.error, KEPT.map(placeOf)) && (
            <ErrorState error={put.error} title="Nothing was changed" />
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={put.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
